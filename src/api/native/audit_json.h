// An event of the audit as our API and `belljar audit` show it.
#pragma once

#include <boost/json/object.hpp>

#include "store/audit_table.h"

namespace bj::native {

boost::json::object audit_json(const AuditRow& event);

}  // namespace bj::native
