// Checks a call's arguments against the tool's JSON schema (draft 7) and says in plain words what is wrong.
//
// Schemas come from strangers. One that is broken, too large or takes too long to apply is not used: the verdict says
// so and has no problems, since the tool's own code still sees the arguments. Patterns and formats are not checked.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "store/tool_row.h"

namespace bj {

// kExact: types as the schema says. kCoercing: what coercion would accept passes too ("7" for an integer).
enum class ArgumentMode { kExact, kCoercing };

struct ArgumentVerdict {
  std::vector<std::string> problems;  // "argument \"city\" must be a string, not a number"; empty: fine
  std::string unchecked;              // why the schema could not be used; empty: it was

  bool ok() const { return problems.empty(); }
  std::string text() const;  // the problems in one line
};

// `parameters`: the schema of the arguments object, i.e. json_schema["parameters"] or args_json_schema.
ArgumentVerdict check_arguments(const boost::json::object& parameters, const boost::json::object& arguments,
                                ArgumentMode mode);

// Against the schema that the tool was stored with, coercing. kUnprocessable says what is wrong.
Result<void> check_tool_arguments(const ToolRow& tool, const boost::json::object& arguments);

}  // namespace bj
