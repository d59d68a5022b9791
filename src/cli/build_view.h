// Environments as the command line asks for them: the flags, and the progress of a build where a person can see it.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "base/async.h"
#include "engine/engine.h"
#include "engine/environments/environments.h"

namespace bj {

// --pip NAME and --npm NAME, repeatable.
void add_requirement_flags(CLI::App& command, std::vector<std::string>& pip, std::vector<std::string>& npm);

// On a terminal one line that rewrites itself; elsewhere a line for each message, or none.
enum class ShowBuild { kAlways, kOnTerminal };

class BuildView {
 public:
  explicit BuildView(ShowBuild show);
  ~BuildView();
  BuildView(const BuildView&) = delete;
  BuildView& operator=(const BuildView&) = delete;

  void show(const BuildProgress& progress);
  // Takes the line away: what follows is not progress.
  void end();

 private:
  ShowBuild show_;
  bool terminal_;
  bool shown_ = false;
  double fraction_ = 0;
};

Task<Result<Environment>> ensure_shown(Engine& engine, EnvironmentRequest request, Force force, ShowBuild show);

// What an installer said, as the sentence of install_failure(); a refused requirement speaks for itself.
Error install_error(Language language, const std::vector<std::string>& requirements, const Error& error);

}  // namespace bj
