// E2B's secrets: values that rules of sandboxes' networks put into requests (header_rules.h). Written, never read back.
#pragma once

#include "audit/audit_log.h"
#include "base/async.h"
#include "control/sandbox_manager.h"
#include "server/router.h"
#include "store/secret_table.h"

namespace bj::e2b {

// What the handlers work on. All of it must outlive the router.
struct SecretRoutes {
  SecretTable secrets;
  SandboxManager& manager;  // of the sandboxes that use them
  asio::thread_pool& threads;
  AuditLog& audit;
};

void add_secret_routes(Router& router, SecretRoutes& routes);

}  // namespace bj::e2b
