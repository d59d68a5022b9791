// The rules for creating and changing tools that need nothing but the request: fields, limits, names.
#pragma once

#include <boost/json/object.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "tools/field_errors.h"
#include "tools/requirement.h"
#include "tools/return_limit.h"

namespace bj {

inline constexpr int64_t kMaxReturnLimit = 1000000;

bool is_tool_type(std::string_view name);    // "custom", "letta_core", ...
bool is_source_type(std::string_view name);  // "python", "typescript", "json"

// POST and PUT /v1/tools. Unknown keys are refused, `name` among them: it comes from the schema.
struct ToolCreate {
  std::optional<std::string> description;
  std::optional<std::vector<std::string>> tags;
  std::string source_code;
  std::string source_type = "python";
  std::optional<boost::json::object> json_schema;
  std::optional<boost::json::object> args_json_schema;
  int64_t return_char_limit = kDefaultReturnLimit;
  std::optional<Requirements> pip;
  std::optional<Requirements> npm;
  std::optional<bool> default_requires_approval;
  bool enable_parallel_execution = false;
};
ToolCreate read_tool_create(const boost::json::value& body, FieldErrors& errors);

// PATCH /v1/tools/{id}: what is absent or null stays as it is. Unknown keys are ignored.
struct ToolUpdate {
  std::optional<std::string> description;
  std::optional<std::vector<std::string>> tags;
  std::optional<std::string> source_code;
  std::optional<std::string> source_type;
  std::optional<boost::json::object> json_schema;
  std::optional<boost::json::object> args_json_schema;
  std::optional<int64_t> return_char_limit;
  std::optional<Requirements> pip;
  std::optional<Requirements> npm;
  std::optional<boost::json::object> metadata;
  std::optional<bool> default_requires_approval;
  std::optional<bool> enable_parallel_execution;
};
ToolUpdate read_tool_update(const boost::json::value& body, FieldErrors& errors);

// POST /v1/tools/run.
struct ToolRunFromSource {
  std::string source_code;
  boost::json::object args;
  std::optional<std::map<std::string, std::string>> env_vars;
  std::optional<std::string> name;
  std::optional<std::string> source_type;
  std::optional<boost::json::object> args_json_schema;
  std::optional<boost::json::object> json_schema;
  std::optional<Requirements> pip;
  std::optional<Requirements> npm;
};
ToolRunFromSource read_tool_run(const boost::json::value& body, FieldErrors& errors);
// Only Python and TypeScript run; nothing given is Python.
Result<void> check_runnable(const std::optional<std::string>& source_type);

// The name in a schema. A schema without one is refused here, not by the database.
Result<std::string> schema_name(const boost::json::object& json_schema);
// Source sent with a PATCH must still have the function: `def name` or `function name`.
Result<void> check_source_has_function(std::string_view source, std::string_view source_type, std::string_view name);

}  // namespace bj
