#include "api/letta/routes.h"

#include <boost/json/array.hpp>

namespace bj::letta {
namespace {

namespace json = boost::json;

void add_schemas(Router& router) {
  const json::value text = {{"type", "string"}}, object = {{"type", "object"}}, number = {{"type", "integer"}};
  const json::value texts = {{"type", "array"}, {"items", {{"type", "string"}}}};
  router.add_schema("Tool", body_schema({{"id", text},
                                         {"name", text},
                                         {"tool_type", text},
                                         {"source_type", text},
                                         {"source_code", text},
                                         {"description", text},
                                         {"json_schema", object},
                                         {"args_json_schema", object},
                                         {"tags", texts},
                                         {"return_char_limit", number},
                                         {"metadata_", object}}));
  router.add_schema("SandboxConfig",
                    body_schema({{"id", text}, {"type", text}, {"organization_id", text}, {"config", object}}));
  router.add_schema(
      "SandboxEnvironmentVariable",
      body_schema({{"id", text}, {"key", text}, {"value", text}, {"description", text}, {"sandbox_config_id", text}}));
  router.add_schema("Block", body_schema({{"id", text}, {"label", text}, {"value", text}, {"limit", number}}));
  router.add_schema("AgentState", body_schema({{"id", text},
                                               {"name", text},
                                               {"tools", array_of("Tool")},
                                               {"blocks", array_of("Block")},
                                               {"secrets", {{"type", "array"}, {"items", object}}}}));
  router.add_schema("ToolExecutionResult",
                    body_schema({{"status", {{"type", "string"}, {"enum", {"success", "error"}}}},
                                 {"func_return", json::object{}},
                                 {"stdout", texts},
                                 {"stderr", texts},
                                 {"sandbox_config_fingerprint", text}}));
}

}  // namespace

json::object body_schema(std::initializer_list<std::pair<const char*, json::value>> properties,
                         std::initializer_list<const char*> required) {
  json::object described;
  for (const auto& [name, schema] : properties) described[name] = schema;
  json::object schema{{"type", "object"}, {"properties", std::move(described)}};
  if (required.size() > 0) schema["required"] = json::array(required.begin(), required.end());
  return schema;
}

json::value ref(const char* schema) { return {{"$ref", std::string("#/components/schemas/") + schema}}; }

json::value array_of(const char* schema) { return {{"type", "array"}, {"items", ref(schema)}}; }

void add_routes(Router& router, Services services) {
  add_schemas(router);
  RouteOptions health;
  health.access = Access::kPublic;
  health.doc.tag = "server";
  health.doc.summary = "Whether the server is up, as Letta's clients ask";
  const auto healthy = [](HttpRequest&) -> Task<HttpResponse> {
    co_return json_response(200, {{"status", "ok"}, {"version", BELLJAR_VERSION}});
  };
  for (const std::string prefix : {"/v1", "/latest"}) {
    router.add(Method::kGet, prefix + "/health/", healthy, health);
    add_tool_routes(router, prefix, services);
    add_run_routes(router, prefix, services);
    add_sandbox_config_routes(router, prefix, services);
    add_agent_routes(router, prefix, services);
    add_block_routes(router, prefix, services);
  }
}

}  // namespace bj::letta
