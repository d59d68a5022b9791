// Bodies of /v1/tools.
#include <boost/json/serialize.hpp>

#include "api/letta/bodies.h"
#include "api/letta/routes.h"

namespace bj::letta {
namespace {

namespace json = boost::json;

constexpr IntegerBounds kSearchLimit{1, 100};

const json::value kText = {{"type", "string"}};
const json::value kObject = {{"type", "object"}};
const json::value kFlag = {{"type", "boolean"}};
const json::value kTexts = {{"type", "array"}, {"items", {{"type", "string"}}}};
const json::value kRequirements = {
    {"type", "array"},
    {"items",
     {{"type", "object"}, {"properties", {{"name", {{"type", "string"}}}, {"version", {{"type", "string"}}}}}}}};
const json::value kLimit = {{"type", "integer"}, {"minimum", 1}, {"maximum", 1'000'000}};

}  // namespace

std::vector<std::string> tags_in_json(const std::vector<std::string>& tags) {
  std::vector<std::string> texts;
  for (const std::string& tag : tags) texts.push_back(json::serialize(json::value(tag)));
  return texts;
}

SchemaQuestion read_schema_question(ModelReader& reader) {
  SchemaQuestion question;
  question.source = reader.string("code");
  question.source_type = reader.optional_string("source_type").value_or("python");
  question.purpose = SchemaFor::kAnswer;
  return question;
}

ToolSearch read_tool_search(ModelReader& reader) {
  ToolSearch search;
  search.query = reader.optional_string("query");
  search.tool_types = reader.optional_strings("tool_types").value_or(std::vector<std::string>());
  search.tags = reader.optional_strings("tags").value_or(std::vector<std::string>());
  search.limit = reader.integer_or("limit", search.limit, kSearchLimit);
  return search;
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

json::value tool_search_schema() {
  return body_schema({{"query", kText}, {"tool_types", kTexts}, {"tags", kTexts}, {"limit", kLimit}});
}

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
