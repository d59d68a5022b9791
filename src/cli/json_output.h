// Results as the JSON that --json prints. What tools wrote need not be valid UTF-8: it is made so.
#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "engine/calls/call.h"
#include "seal/seal.h"

namespace bj {

double rounded_ms(double duration_ms);  // to the microsecond

const char* state_name(ControlState state);
// {"full": bool, "userns": {"state": "on", "detail": "..."}, ...}
boost::json::object seal_json(const Seal& seal);

// {status, return, error?, stdout, stderr, stdout_dropped, stderr_dropped, duration_ms, limits_hit, seal, network?}
boost::json::object call_json(const CallResult& result);
// The same keys for a call that never ran.
boost::json::object failed_call_json(const std::string& status, const std::string& message);

// As people write it: 0.5, where Boost.JSON writes 5E-1.
std::string json_text(const boost::json::value& value);
// One line on stdout.
void print_json(const boost::json::value& value);

}  // namespace bj
