// The sandbox in which a group of a build's steps is done. Every step is a process inside; archives are unpacked
// inside, by the template's own tar. What comes out of it is hostile and only ever text for the log, or a layer.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "control/template_catalog.h"
#include "control/template_request.h"
#include "engine/engine.h"
#include "engine/sandbox.h"

namespace bj {

// A line that a step wrote.
using StepOutput = std::function<void(std::string_view level, std::string_view line)>;

struct BuildSandboxOptions {
  Limits limits;
  NetworkPolicy network;
  GateListener on_network;
  std::map<std::string, std::string> environment;  // of RUN steps, below the template's
};

// Stays on the engine's thread.
class BuildSandbox : public std::enable_shared_from_this<BuildSandbox> {
 public:
  static Task<Result<std::shared_ptr<BuildSandbox>>> create(Engine& engine, HeldTemplate image,
                                                            BuildSandboxOptions options);

  // Does the step and notes in `content` what it changes there. `files` is COPY's archive. kInvalid: the step failed,
  // with what to tell.
  Task<Result<void>> perform(const BuildStep& step, TemplateContent& content, Fd files, StepOutput output);
  // Runs the start command in the background and waits until the ready command ends with 0. The sandbox ends with the
  // patience.
  Task<Result<void>> become_ready(const TemplateContent& content, std::chrono::seconds patience, StepOutput output);

  // An account was made here: only a sandbox over this one's layer knows it.
  bool made_account() const { return made_account_; }

  Sandbox& sandbox() { return *sandbox_; }
  void kill() { sandbox_->kill(); }
  Task<void> destroy() { return sandbox_->destroy(); }

 private:
  BuildSandbox(Engine& engine, HeldTemplate image, BuildSandboxOptions options)
      : engine_(engine), image_(std::move(image.image)), hold_(std::move(image.hold)), options_(std::move(options)) {}

  struct Ended {
    int status = 0;  // as a shell has it
    bool lost = false;
    std::string last;  // of what it wrote to stderr
  };
  Task<Result<Ended>> run(ProcessSpec process, StepOutput output);
  Task<Result<void>> run_text(const std::string& text, const std::string& user, const TemplateContent& content,
                              const StepOutput& output);
  Task<Result<void>> copy(const BuildStep& step, const TemplateContent& content, Fd files, const StepOutput& output);
  Task<Result<void>> make_workdir(const std::string& path, TemplateContent& content, const StepOutput& output);
  Task<Result<void>> use_user(const std::string& name, TemplateContent& content, const StepOutput& output);
  // One of our own scripts, as root inside.
  Task<Result<void>> helper(const char* script, std::map<std::string, std::string> variables, const StepOutput& output);
  std::map<std::string, std::string> variables_of(const TemplateContent& content) const;
  std::string user_of(const TemplateContent& content) const {
    return content.user.empty() ? image_.user : content.user;
  }
  std::string workdir_of(const TemplateContent& content) const;

  Engine& engine_;
  Template image_;
  TemplateHold hold_;
  BuildSandboxOptions options_;
  std::shared_ptr<Sandbox> sandbox_;
  std::string helper_user_ = "root";
  bool made_account_ = false;
};

}  // namespace bj
