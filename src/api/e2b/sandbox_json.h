// Sandboxes as E2B's clients read them. Python's models are strict: every field that is required there is always
// written.
#pragma once

#include <boost/json/object.hpp>

#include "api/e2b/services.h"

namespace bj::e2b {

// What a create or connect is answered with.
boost::json::object sandbox_json(const Services& services, const SandboxRow& row);
// One of a list.
boost::json::object listed_json(const SandboxRow& row);
// The same with what only its owner asks for. A key that may only read gets no token: with it, it could do more.
boost::json::object detail_json(const Services& services, const SandboxRow& row, const Actor& actor);
boost::json::object metric_json(const MetricPoint& point);

bool is_secure(const SandboxRow& row);
// The id of what it was made of, by whichever name it was asked for.
std::string template_id_of(const SandboxRow& row);
// What E2B tells every program in a sandbox about it.
SandboxEnvironment own_variables(const SandboxRow& row);
// Whole seconds, without a fraction that strict readers stumble over.
std::string time_of(int64_t microseconds);

}  // namespace bj::e2b
