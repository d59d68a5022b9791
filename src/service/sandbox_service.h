// Sandboxes that live with a server, put together: who hosts them, who leads their lives, who runs their commands, and
// the routes to all of it. Lives on the engine's thread.
#pragma once

#include <string>

#include "api/e2b/secret_routes.h"
#include "api/e2b/services.h"
#include "api/e2b/volume_routes.h"
#include "control/code_runner.h"
#include "control/command_runner.h"
#include "control/sandbox_manager.h"
#include "control/sandbox_provider.h"
#include "control/volume_manager.h"
#include "server/router.h"
#include "service/sandbox_traffic.h"
#include "service/template_service.h"
#include "service/tool_service.h"

namespace bj {

struct SandboxServiceOptions {
  SandboxProvider provider = SandboxProvider::kLocal;
  std::string data_directory;
  Limits limits;  // of a sandbox that asks for none
  bool require_full_seal = false;
  boost::json::value network = "none";     // of organizations that have no policy of their own
  std::vector<std::string> package_hosts;  // what the preset `packages` means here
  CredentialFiles credential_files;
  std::string scheme = "http";          // of links to this server
  std::vector<std::string> registries;  // that may have an address which is not public
  SandboxShare quota;
  int64_t usual_timeout_s = 300;
  int64_t longest_timeout_s = 24 * 3600;
  VolumeShare volume_quota;
  int64_t volume_bytes = int64_t{1} << 30;  // of a volume that asks for no size
  std::string domain = "localhost";         // below which sandboxes have host names, with its port
  bool secure = false;                      // that is reached over TLS
};

class SandboxService {
 public:
  // Both must outlive it.
  SandboxService(Engine& engine, ToolService& tools, SandboxTokens tokens, const SandboxServiceOptions& options);

  ~SandboxService();

  Task<Result<void>> start();
  // The engine, the store and the audit must still run.
  Task<void> stop();
  void add_routes(Router& router);
  // What comes to ports of sandboxes.
  TrafficHandler traffic();
  // Of every sandbox, those that we answer ourselves.
  std::set<uint16_t> own_ports() const { return traffic_.served_ports(); }
  SandboxManager& manager() { return manager_; }
  CommandRunner& commands() { return commands_; }
  TemplateService& templates() { return templates_; }
  CodeRunner& code() { return code_; }
  VolumeManager& volumes() { return volumes_; }

 private:
  AuditLog& audit_;
  Limits limits_;
  TemplateService templates_;
  VolumeManager volumes_;
  std::unique_ptr<SandboxHost> host_;
  SandboxManager manager_;
  CommandRunner commands_;
  CodeRunner code_;
  SandboxTokens tokens_;
  preview::UrlOptions place_;
  SandboxTraffic traffic_;
  MetricsSampler metrics_;
  std::unique_ptr<e2b::KeptWatches> watches_;
  e2b::Services e2b_;
  e2b::VolumeRoutes e2b_volumes_;
  e2b::SecretRoutes e2b_secrets_;
};

}  // namespace bj
