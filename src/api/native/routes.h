// Belljar's own routes: runs with streamed output, the record of calls, the audit, network policies, credentials.
#pragma once

#include "audit/audit_log.h"
#include "base/async.h"
#include "server/router.h"
#include "store/store.h"
#include "tools/call_recorder.h"
#include "tools/tool_runner.h"

namespace bj::native {

// What the handlers work on. All of it must outlive the router.
struct Services {
  Store& store;
  asio::thread_pool& threads;
  ToolRunner& runner;
  CallRecorder& recorder;
  AuditLog& audit;
};

void add_routes(Router& router, Services services);
void add_run_routes(Router& router, Services services);
void add_call_routes(Router& router, Services services);
void add_audit_routes(Router& router, Services services);
void add_network_policy_routes(Router& router, Services services);
void add_credential_routes(Router& router, Services services);

}  // namespace bj::native
