// The OpenAPI document: each route's record, translated.
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cctype>

#include "server/router.h"

namespace bj {
namespace {

namespace json = boost::json;

const char* name_of(ParameterDoc::In in) {
  switch (in) {
    case ParameterDoc::In::kPath: return "path";
    case ParameterDoc::In::kQuery: return "query";
    case ParameterDoc::In::kHeader: return "header";
  }
  return "";
}

json::object parameter(const ParameterDoc& doc) {
  json::object out{{"name", doc.name},
                   {"in", name_of(doc.in)},
                   {"required", doc.required || doc.in == ParameterDoc::In::kPath},
                   {"schema", doc.schema}};
  if (!doc.description.empty()) out["description"] = doc.description;
  return out;
}

json::array parameters(const Route& route) {
  json::array out;
  for (size_t at = route.pattern.find('{'); at != std::string::npos; at = route.pattern.find('{', at + 1)) {
    ParameterDoc doc;
    doc.name = route.pattern.substr(at + 1, route.pattern.find('}', at) - at - 1);
    doc.in = ParameterDoc::In::kPath;
    for (const ParameterDoc& given : route.options.doc.parameters)
      if (given.in == ParameterDoc::In::kPath && given.name == doc.name) doc = given;
    out.push_back(parameter(doc));
  }
  for (const ParameterDoc& given : route.options.doc.parameters)
    if (given.in != ParameterDoc::In::kPath) out.push_back(parameter(given));
  return out;
}

// "get_v1_tools_tool_id": unique, because method and pattern are.
std::string operation_id(const Route& route) {
  std::string id;
  for (const char c : std::string(name_of(route.method)) + route.pattern) {
    const bool letter = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (letter)
      id += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!id.empty() && id.back() != '_')
      id += '_';
  }
  while (!id.empty() && id.back() == '_') id.pop_back();
  return id;
}

json::object content(const std::string& type, const json::value& schema) {
  return {{type, schema.is_null() ? json::object{} : json::object{{"schema", schema}}}};
}

json::object responses(const Route& route) {
  const RouteDoc& doc = route.options.doc;
  json::object good{{"description", "The answer"}};
  if (!doc.response_schema.is_null() || doc.response_type != "application/json")
    good["content"] = content(doc.response_type, doc.response_schema);
  const json::value problem{{"$ref", "#/components/schemas/Problem"}};
  return {{std::to_string(doc.response_status), good},
          {"default", {{"description", "What went wrong"}, {"content", content("application/json", problem)}}}};
}

json::object operation(const Route& route) {
  const RouteDoc& doc = route.options.doc;
  json::object out{{"operationId", operation_id(route)}, {"summary", doc.summary}};
  if (!doc.description.empty()) out["description"] = doc.description;
  if (!doc.tag.empty()) out["tags"] = json::array{json::value(doc.tag)};
  if (json::array all = parameters(route); !all.empty()) out["parameters"] = std::move(all);
  const std::string request_type =
      route.options.body == BodyKind::kStreamed ? "application/octet-stream" : "application/json";
  if (!doc.request_schema.is_null())
    out["requestBody"] = json::object{{"required", true}, {"content", content(request_type, doc.request_schema)}};
  out["responses"] = responses(route);
  const Access access = route.options.access;
  if (access == Access::kPublic || access == Access::kPublicOnLoopback) out["security"] = json::array{};
  return out;
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

json::value openapi(const Router& router, std::string_view version) {
  json::object paths;
  for (const auto& route : router.routes()) {
    json::value& path = paths[route->pattern];
    if (path.is_null()) path = json::object{};
    path.as_object()[lower(name_of(route->method))] = operation(*route);
  }
  json::object schemas = router.schemas();
  schemas["Problem"] = {{"type", "object"},
                        {"required", json::array{"detail"}},
                        {"properties",
                         {{"detail", {{"type", "string"}, {"description", "A sentence that says what to do"}}},
                          {"trace_id", {{"type", "string"}, {"description", "The request's id, on 422"}}}}}};
  return json::object{
      {"openapi", "3.1.0"},
      {"info",
       {{"title", "Belljar"},
        {"version", version},
        {"description", "Runs the tools and the code that AI agents write, each in a sealed sandbox."}}},
      {"security", json::array{{{"key", json::array{}}}}},
      {"paths", std::move(paths)},
      {"components",
       {{"schemas", std::move(schemas)}, {"securitySchemes", {{"key", {{"type", "http"}, {"scheme", "bearer"}}}}}}}};
}

}  // namespace bj
