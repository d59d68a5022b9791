// E2B's API, as its official SDKs speak it: sandboxes (REST), and inside each of them, on a port of its own, processes
// and files (Connect-RPC) and uploads. What is E2B's stays here: names of fields, statuses, words of errors. Sandboxes
// are the same as /v1/sandboxes has.
#pragma once

#include <memory>
#include <string>

#include "audit/audit_log.h"
#include "control/command_runner.h"
#include "control/metrics_sampler.h"
#include "control/sandbox_manager.h"
#include "control/sandbox_tokens.h"
#include "server/router.h"

namespace bj::e2b {

class KeptWatches;

inline constexpr uint16_t kEnvdPort = 49983;
inline constexpr uint16_t kCodePort = 49999;
inline constexpr const char* kEnvdVersion = "0.6.13";
inline constexpr const char* kClientId = "belljar";

// What the handlers work on. All of it must outlive the router.
struct Services {
  SandboxManager& manager;
  CommandRunner& commands;
  MetricsSampler& metrics;
  AuditLog& audit;
  const SandboxTokens& tokens;
  KeptWatches& watches;
  std::string domain;  // below which sandboxes have host names
};

// The control plane, and /files for signed links that name their sandbox by nothing but their signature.
void add_routes(Router& router, const Services& services);
void add_sandbox_routes(Router& router, const Services& services);
void add_list_routes(Router& router, const Services& services);
void add_insight_routes(Router& router, const Services& services);
void add_snapshot_routes(Router& router, const Services& services);
void add_network_routes(Router& router, const Services& services);
void add_signed_file_routes(Router& router, const Services& services);

using Function = Task<Result<HttpResponse>> (*)(const Services&, HttpRequest&);
void add_route(Router& router, const Services& services, Method method, const char* path, Function function,
               const char* summary, Work work = Work::kLight);

// To E2B's clients a sandbox whose files alone were kept is paused, too.
bool is_paused(const SandboxRow& row);
// ?limit=, from 1 to 100.
Result<int64_t> page_limit(const HttpRequest& request);
// Of a list with the newest first: the page that was asked for, with one more than fits, if there is another.
Result<Page> newest_page(const HttpRequest& request);
// The path's sandbox if it runs or is paused; an old form of ids has a client's behind a dash.
Task<Result<SandboxRow>> living_row(const Services& services, const HttpRequest& request);

}  // namespace bj::e2b
