// Events for security tools, in the words of the Open Cybersecurity Schema Framework: commands as Process Activity
// (1007), file writes as File System Activity (1001), what happens at the gate as Network Activity (4001), everything
// else as API Activity (6003). What OCSF has no place for (the chain, the detail) is under "unmapped", so nothing is
// lost.
#pragma once

#include <boost/json/object.hpp>

#include "store/audit_table.h"

namespace bj {

boost::json::object ocsf_of(const AuditRow& event);

}  // namespace bj
