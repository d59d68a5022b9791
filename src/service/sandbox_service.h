// Sandboxes that live with a server, put together: who hosts them, who leads their lives, who runs their commands, and
// the routes to all of it. Lives on the engine's thread.
#pragma once

#include <string>

#include "control/code_runner.h"
#include "control/command_runner.h"
#include "control/local_sandbox.h"
#include "control/sandbox_manager.h"
#include "control/template_catalog.h"
#include "server/router.h"
#include "service/tool_service.h"

namespace bj {

struct SandboxServiceOptions {
  std::string data_directory;
  Limits limits;  // of a sandbox that asks for none
  bool require_full_seal = false;
  boost::json::value network = "none";     // of organizations that have no policy of their own
  std::vector<std::string> package_hosts;  // what the preset `packages` means here
  CredentialFiles credential_files;
  SandboxShare quota;
  int64_t usual_timeout_s = 300;
  int64_t longest_timeout_s = 24 * 3600;
};

class SandboxService {
 public:
  // Both must outlive it.
  SandboxService(Engine& engine, ToolService& tools, SandboxServiceOptions options);

  Task<Result<void>> start() { return manager_.start(); }
  // The engine, the store and the audit must still run.
  Task<void> stop() { return manager_.stop(); }
  void add_routes(Router& router);
  SandboxManager& manager() { return manager_; }
  CommandRunner& commands() { return commands_; }
  TemplateCatalog& templates() { return templates_; }
  CodeRunner& code() { return code_; }

 private:
  AuditLog& audit_;
  Limits limits_;
  TemplateCatalog templates_;
  LocalHost host_;
  SandboxManager manager_;
  CommandRunner commands_;
  CodeRunner code_;
};

}  // namespace bj
