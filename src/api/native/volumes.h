// /v1/volumes: directories that outlive sandboxes, and their files. Each handler asks for its volume by the key's
// organization first; another's does not exist.
#pragma once

#include "audit/audit_log.h"
#include "control/volume_manager.h"
#include "server/router.h"

namespace bj::native {

// What the handlers work on. All of it must outlive the router.
struct VolumeServices {
  VolumeManager& volumes;
  AuditLog& audit;
};

void add_volume_routes(Router& router, VolumeServices services);
void add_volume_file_routes(Router& router, VolumeServices services);

// The path's {volume_id}, which must look like one.
Result<std::string> volume_id_of(const HttpRequest& request);

}  // namespace bj::native
