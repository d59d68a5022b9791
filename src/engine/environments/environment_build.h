// One build: a sandbox in which an installer runs, and the way of what it installed to a directory of ours. pip fills a
// virtual environment, npm a node_modules, both at the very path at which calls will see them, so that scripts and
// compiled files name the right places.
//
// The builder has all walls. Through its gate it reaches the package indexes as they are configured and nothing else
// (environment_network.h). It runs as the sandbox's plain user, has limits of its own, and sees of the server only
// where the index is.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async.h"
#include "engine/calls/call.h"
#include "engine/environments/environment_copy.h"
#include "engine/environments/environment_index.h"
#include "engine/sandbox.h"

namespace bj {

enum class BuildPhase { kWaiting, kPreparing, kInstalling, kCompiling, kCopying };
const char* phase_name(BuildPhase phase);

struct BuildProgress {
  BuildPhase phase = BuildPhase::kPreparing;
  std::string message;             // one line of printable ASCII, credentials masked
  std::optional<double> fraction;  // of the whole, roughly, where it is known
};
using Progress = std::function<void(const BuildProgress&)>;

struct BuildJob {
  Language language = Language::kPython;
  Template image;
  std::string interpreter;
  std::vector<std::string> requirements;  // normalized
  IndexSettings index;
};

struct Built {
  std::vector<std::string> site_dirs;  // inside
  std::string builder_seal;            // what it lacked
  CopyCounts counts;
};

// What a builder may use. What it writes lies in memory (see docs/architecture.md), so the two go together.
Limits build_limits();

// Used once, on the engine's thread. The caller keeps it alive until run() returns.
class EnvironmentBuilder {
 public:
  EnvironmentBuilder(Host& host, BuildJob job, Progress progress);

  // Fills the directory `into` (borrowed). kUnavailable: the installer failed, and these are its last relevant lines.
  Task<Result<Built>> run(int into);
  // Ends it from outside; run() then fails.
  void kill();

 private:
  struct Step {
    std::string message;
    std::string program_missing;  // what to say then
    ProcessSpec process;
    BuildPhase phase = BuildPhase::kInstalling;
    double fraction = 0;
  };
  struct Output {
    int status = 0;  // as wait(2)
    std::string text, errors;
  };

  Task<Result<void>> open_sandbox();
  void on_network(const GateEvent& event);
  Task<Result<void>> put(std::string path, std::string text, unsigned mode, Account owner);
  Task<Result<void>> make_room();
  Task<Result<void>> install(Built& built);
  Task<Result<void>> install_python(Built& built);
  Task<Result<void>> install_node();
  Task<Result<Output>> perform(Step step);
  Task<Result<void>> succeed(Step step);
  Task<Result<Fd>> packages();
  ProcessSpec installer(std::vector<std::string> arguments) const;
  tl::unexpected<Error> ended_early() const;
  tl::unexpected<Error> failed(const Output& output) const;
  void tell(BuildPhase phase, const std::string& message, std::optional<double> fraction);
  void tell_line(std::string_view line);

  Host& host_;
  BuildJob job_;
  Progress progress_;
  Limits limits_;
  std::shared_ptr<Sandbox> sandbox_;
  std::shared_ptr<NetworkUse> network_ = std::make_shared<NetworkUse>();
  Account root_;  // who may change everything inside; rootless, its only user
  Clock::time_point deadline_, told_;
  BuildPhase phase_ = BuildPhase::kPreparing;
  bool killed_ = false;
};

}  // namespace bj
