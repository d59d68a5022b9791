// Bodies of /v1/tools.
#include "api/letta/bodies.h"
#include "api/letta/routes.h"

namespace bj::letta {
namespace {

namespace json = boost::json;

constexpr IntegerBounds kReturnLimit{1, 1'000'000};
constexpr IntegerBounds kSearchLimit{1, 100};

std::optional<Requirements> requirements(ModelReader& reader, FieldErrors& errors, const char* key) {
  const json::value* const list = reader.take(key, NullCounts::kAsAbsent);
  if (list == nullptr) return std::nullopt;
  return read_requirements(*list, reader.loc(key), errors);
}

const json::value kText = {{"type", "string"}};
const json::value kObject = {{"type", "object"}};
const json::value kFlag = {{"type", "boolean"}};
const json::value kTexts = {{"type", "array"}, {"items", {{"type", "string"}}}};
const json::value kRequirements = {
    {"type", "array"},
    {"items", {{"type", "object"}, {"properties", {{"name", {{"type", "string"}}}, {"version", {{"type", "string"}}}}}}}};
const json::value kLimit = {{"type", "integer"}, {"minimum", 1}, {"maximum", 1'000'000}};

}  // namespace

ToolDraft read_tool_create(ModelReader& reader) {
  ToolDraft draft;
  draft.description = reader.optional_string("description");
  draft.tags = reader.optional_strings("tags").value_or(std::vector<std::string>());
  draft.source_code = reader.string("source_code");
  draft.source_type = reader.string_or("source_type", "python");
  draft.json_schema = reader.optional_object("json_schema");
  draft.args_json_schema = reader.optional_object("args_json_schema");
  draft.return_char_limit = reader.integer_or("return_char_limit", draft.return_char_limit, kReturnLimit);
  draft.pip_requirements = requirements(reader, reader.errors(), "pip_requirements");
  draft.npm_requirements = requirements(reader, reader.errors(), "npm_requirements");
  draft.default_requires_approval = reader.optional_boolean("default_requires_approval");
  draft.enable_parallel_execution = reader.optional_boolean("enable_parallel_execution").value_or(false);
  return draft;
}

ToolPatch read_tool_update(ModelReader& reader) {
  ToolPatch patch;
  patch.description = reader.optional_string("description");
  patch.tags = reader.optional_strings("tags");
  patch.source_code = reader.optional_string("source_code");
  patch.source_type = reader.optional_string("source_type");
  patch.json_schema = reader.optional_object("json_schema");
  patch.args_json_schema = reader.optional_object("args_json_schema");
  patch.metadata = reader.optional_object("metadata_");
  patch.return_char_limit = reader.optional_integer("return_char_limit", kReturnLimit);
  patch.pip_requirements = requirements(reader, reader.errors(), "pip_requirements");
  patch.npm_requirements = requirements(reader, reader.errors(), "npm_requirements");
  patch.default_requires_approval = reader.optional_boolean("default_requires_approval");
  patch.enable_parallel_execution = reader.optional_boolean("enable_parallel_execution");
  return patch;
}

SchemaQuestion read_schema_question(ModelReader& reader) {
  SchemaQuestion question;
  question.source = reader.string("code");
  question.source_type = reader.optional_string("source_type").value_or("python");
  return question;
}

ToolSearch read_tool_search(ModelReader& reader) {
  ToolSearch search;
  search.query = reader.optional_string("query");
  search.tool_types = reader.optional_strings("tool_types").value_or(std::vector<std::string>());
  search.limit = reader.integer_or("limit", search.limit, kSearchLimit);
  return search;
}

RunFromSource read_run_from_source(ModelReader& reader) {
  RunFromSource run;
  run.draft.source_code = reader.string("source_code");
  run.args = reader.object("args");
  run.variables = reader.optional_string_map("env_vars").value_or(std::map<std::string, std::string>());
  run.name = reader.optional_string("name");
  run.source_type = reader.optional_string("source_type");
  run.draft.args_json_schema = reader.optional_object("args_json_schema");
  run.draft.json_schema = reader.optional_object("json_schema");
  run.draft.pip_requirements = requirements(reader, reader.errors(), "pip_requirements");
  run.draft.npm_requirements = requirements(reader, reader.errors(), "npm_requirements");
  return run;
}

json::object read_run_args(ModelReader& reader) { return reader.object_or_empty("args"); }

json::value tool_create_schema() {
  return body_schema({{"source_code", kText},
                      {"source_type", {{"type", "string"}, {"enum", {"python", "typescript", "json"}}}},
                      {"description", kText},
                      {"tags", kTexts},
                      {"json_schema", kObject},
                      {"args_json_schema", kObject},
                      {"return_char_limit", kLimit},
                      {"pip_requirements", kRequirements},
                      {"npm_requirements", kRequirements},
                      {"default_requires_approval", kFlag},
                      {"enable_parallel_execution", kFlag}},
                     {"source_code"});
}

json::value tool_update_schema() {
  json::object schema = tool_create_schema().get_object();
  schema.erase("required");
  schema["properties"].get_object()["metadata_"] = kObject;
  return schema;
}

json::value tool_search_schema() { return body_schema({{"query", kText}, {"tool_types", kTexts}, {"limit", kLimit}}); }

json::value schema_question_schema() { return body_schema({{"code", kText}, {"source_type", kText}}, {"code"}); }

json::value run_from_source_schema() {
  return body_schema({{"source_code", kText},
                      {"args", kObject},
                      {"env_vars", kObject},
                      {"name", kText},
                      {"source_type", kText},
                      {"args_json_schema", kObject},
                      {"json_schema", kObject},
                      {"pip_requirements", kRequirements},
                      {"npm_requirements", kRequirements}},
                     {"source_code", "args"});
}

json::value run_args_schema() { return body_schema({{"args", kObject}}); }

}  // namespace bj::letta
