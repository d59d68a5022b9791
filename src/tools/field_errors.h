// What is wrong with a request, in pydantic's form: clients of Letta's API know these types and messages, and the text
// of a 422 answer is Python's repr() of their list.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bj {

struct FieldError {
  std::string type;          // "missing", "string_type", ...
  boost::json::array loc;    // ["body", "config", 0]
  std::string msg;           // for people
  boost::json::value input;  // what was there
  std::string context;       // Python's text of pydantic's `ctx`; empty: none
};
using FieldErrors = std::vector<FieldError>;

// More are not told: who reads on would work for nothing, and a request can have millions.
bool are_enough(const FieldErrors& errors);

// "[{'type': 'missing', 'loc': ('body', 'name'), 'msg': 'Field required', 'input': {}}]". Long inputs are cut, secrets
// masked.
std::string field_errors_repr(const FieldErrors& errors);

// A location one step further.
boost::json::array deeper(const boost::json::array& loc, boost::json::value step);

// The body of a request as JSON; an empty or broken one is one error at ("body", position).
std::optional<boost::json::value> read_json_body(std::string_view body, FieldErrors& errors);

}  // namespace bj
