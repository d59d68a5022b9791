// E2B's volumes: /volumes with a key, and the files in them at /volumecontent with the token that such an answer holds.
// They are the same volumes as /v1/volumes has.
#pragma once

#include <string>

#include "audit/audit_log.h"
#include "control/sandbox_tokens.h"
#include "control/volume_manager.h"
#include "server/router.h"

namespace bj::e2b {

// What the handlers work on. All of it must outlive the router.
struct VolumeRoutes {
  VolumeManager& volumes;
  AuditLog& audit;
  const SandboxTokens& tokens;
  std::string domain;  // clients look for the files at api.<domain>
};

void add_volume_routes(Router& router, const VolumeRoutes& routes);
void add_volume_content_routes(Router& router, const VolumeRoutes& routes);

}  // namespace bj::e2b
