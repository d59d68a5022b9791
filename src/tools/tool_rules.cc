#include "tools/tool_rules.h"

#include <algorithm>
#include <iterator>

#include "tools/model_reader.h"
#include "tools/python_text.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr std::string_view kToolTypes[] = {"custom",
                                           "letta_core",
                                           "letta_memory_core",
                                           "letta_multi_agent_core",
                                           "letta_sleeptime_core",
                                           "letta_voice_sleeptime_core",
                                           "letta_builtin",
                                           "letta_files_core",
                                           "external_langchain",
                                           "external_composio",
                                           "external_mcp"};
const std::vector<std::string> kSourceTypes = {"python", "typescript", "json"};
constexpr IntegerBounds kReturnLimits{1, kMaxReturnLimit};

constexpr char kTypescriptNeedsSchema[] =
    "TypeScript tools require an explicit json_schema parameter, because it can't be derived when the tool is created";

std::optional<Requirements> requirements(ModelReader& reader, std::string_view key, FieldErrors& errors) {
  const json::value* list = reader.take(key, NullCounts::kAsAbsent);
  if (list == nullptr) return std::nullopt;
  return read_requirements(*list, reader.loc(key), errors);
}

}  // namespace

bool is_tool_type(std::string_view name) {
  return std::find(std::begin(kToolTypes), std::end(kToolTypes), name) != std::end(kToolTypes);
}

bool is_source_type(std::string_view name) {
  return std::find(kSourceTypes.begin(), kSourceTypes.end(), name) != kSourceTypes.end();
}

ToolCreate read_tool_create(const json::value& body, FieldErrors& errors) {
  ModelReader reader(body, {"body"}, errors);
  ToolCreate tool;
  tool.description = reader.optional_string("description");
  tool.tags = reader.optional_strings("tags");
  tool.source_code = reader.string("source_code");
  tool.source_type = reader.text_choice("source_type", NullCounts::kAsWrong, kSourceTypes).value_or("python");
  tool.json_schema = reader.optional_object("json_schema");
  tool.args_json_schema = reader.optional_object("args_json_schema");
  tool.return_char_limit = reader.integer_or("return_char_limit", kDefaultReturnLimit, kReturnLimits);
  tool.pip = requirements(reader, "pip_requirements", errors);
  tool.npm = requirements(reader, "npm_requirements", errors);
  tool.default_requires_approval = reader.optional_boolean("default_requires_approval");
  tool.enable_parallel_execution = reader.optional_boolean("enable_parallel_execution").value_or(false);
  reader.finish(UnknownKeys::kForbid);
  if (errors.empty() && tool.source_type == "typescript" && !tool.json_schema) {
    errors.push_back({"value_error",
                      {"body"},
                      std::string("Value error, ") + kTypescriptNeedsSchema,
                      body,
                      "{'error': ValueError(" + python_repr(std::string_view(kTypescriptNeedsSchema)) + ")}"});
  }
  return tool;
}

ToolUpdate read_tool_update(const json::value& body, FieldErrors& errors) {
  ModelReader reader(body, {"body"}, errors);
  ToolUpdate tool;
  tool.description = reader.optional_string("description");
  tool.tags = reader.optional_strings("tags");
  tool.source_code = reader.optional_string("source_code");
  tool.source_type = reader.text_choice("source_type", NullCounts::kAsAbsent, kSourceTypes);
  tool.json_schema = reader.optional_object("json_schema");
  tool.args_json_schema = reader.optional_object("args_json_schema");
  tool.return_char_limit = reader.optional_integer("return_char_limit", kReturnLimits);
  tool.pip = requirements(reader, "pip_requirements", errors);
  tool.npm = requirements(reader, "npm_requirements", errors);
  tool.metadata = reader.optional_object("metadata_");
  tool.default_requires_approval = reader.optional_boolean("default_requires_approval");
  tool.enable_parallel_execution = reader.optional_boolean("enable_parallel_execution");
  reader.finish(UnknownKeys::kIgnore);
  return tool;
}

ToolRunFromSource read_tool_run(const json::value& body, FieldErrors& errors) {
  ModelReader reader(body, {"body"}, errors);
  ToolRunFromSource run;
  run.source_code = reader.string("source_code");
  run.args = reader.object("args");
  run.env_vars = reader.optional_string_map("env_vars");
  run.name = reader.optional_string("name");
  run.source_type = reader.optional_string("source_type");
  run.args_json_schema = reader.optional_object("args_json_schema");
  run.json_schema = reader.optional_object("json_schema");
  run.pip = requirements(reader, "pip_requirements", errors);
  run.npm = requirements(reader, "npm_requirements", errors);
  reader.finish(UnknownKeys::kForbid);
  return run;
}

Result<void> check_runnable(const std::optional<std::string>& source_type) {
  if (!source_type || *source_type == "python" || *source_type == "typescript") return {};
  return fail(Code::kInvalid, "source_type must be python or typescript to run from source, not " +
                                  python_repr(std::string_view(*source_type)));
}

Result<std::string> schema_name(const json::object& json_schema) {
  const json::value* name = json_schema.if_contains("name");
  if (name == nullptr || !name->is_string() || name->get_string().empty()) {
    return fail(Code::kInvalid, "the json_schema needs a \"name\": the name of the tool's function");
  }
  return std::string(name->get_string());
}

Result<void> check_source_has_function(std::string_view source, std::string_view source_type, std::string_view name) {
  const std::string wanted = (source_type == "typescript" ? "function " : "def ") + std::string(name);
  if (source.find(wanted) != source.npos) return {};
  return fail(Code::kInvalid, "the source code has no \"" + wanted + "\"; a tool's function has the tool's name");
}

}  // namespace bj
