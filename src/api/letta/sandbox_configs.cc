// /v1/sandbox-config: configurations and their environment variables.
#include <boost/json/array.hpp>

#include "api/handler.h"
#include "api/letta/bodies.h"
#include "api/letta/path_id.h"
#include "api/letta/routes.h"
#include "api/letta/shapes.h"
#include "api/route_group.h"

namespace bj::letta {
namespace {

namespace json = boost::json;

constexpr int64_t kUsualLimit = 1000;

Task<Result<HttpResponse>> put(Services services, HttpRequest& request) {
  const auto take = [](ModelReader& reader) {
    const json::value* const config = reader.required("config");
    return config == nullptr ? json::value() : *config;
  };
  BJ_CO_TRY(const json::value config, read_body(request, UnknownKeys::kForbid, take));
  const auto store = [&] { return services.configs.put(request.actor, config); };
  BJ_CO_TRY(const SandboxConfigRow row, co_await offload(services.threads, store));
  BJ_CO_CHECK(co_await services.audit.act(request.actor, "sandbox_config.put", row.id, {{"type", row.type}}));
  co_return json_response(200, config_json(row));
}

Task<Result<HttpResponse>> put_local(Services services, HttpRequest& request) {
  FieldErrors errors;
  const std::optional<json::value> body = read_json_body(request.body, errors);
  if (!body) co_return fail(Code::kUnprocessable, field_errors_repr(errors));
  const auto store = [&] { return services.configs.put_as(request.actor, SandboxType::kLocal, *body); };
  BJ_CO_TRY(const SandboxConfigRow row, co_await offload(services.threads, store));
  BJ_CO_CHECK(co_await services.audit.act(request.actor, "sandbox_config.put", row.id, {{"type", row.type}}));
  co_return json_response(200, config_json(row));
}

Task<Result<HttpResponse>> usual(Services services, HttpRequest& request, SandboxType type) {
  const auto find = [&] { return services.configs.find_or_create(request.actor, type); };
  BJ_CO_TRY(const SandboxConfigRow row, co_await offload(services.threads, find));
  co_return json_response(200, config_json(row));
}

Task<Result<HttpResponse>> usual_local(Services services, HttpRequest& request) {
  return usual(services, request, SandboxType::kLocal);
}

Task<Result<HttpResponse>> usual_e2b(Services services, HttpRequest& request) {
  return usual(services, request, SandboxType::kE2b);
}

Task<Result<HttpResponse>> recreate(Services services, HttpRequest& request) {
  const auto find = [&] { return services.configs.find_or_create(request.actor, SandboxType::kLocal); };
  BJ_CO_TRY(const SandboxConfigRow row, co_await offload(services.threads, find));
  BJ_CO_CHECK(co_await services.runner.rebuild_environment(row));
  BJ_CO_CHECK(co_await services.audit.act(request.actor, "sandbox_config.rebuild", row.id));
  co_return json_response(200, config_json(row));
}

Task<Result<HttpResponse>> list(Services services, HttpRequest& request) {
  BJ_CO_TRY(const Page page, page_of(request, kUsualLimit, Order::kAscending));
  const MaybeText type = query_text(request, "sandbox_type");
  if (type && !sandbox_type_named(*type)) {
    const FieldError unknown{"enum",
                             {"query", "sandbox_type"},
                             "Input should be 'e2b', 'modal' or 'local'",
                             json::value(*type),
                             "{'expected': \"'e2b', 'modal' or 'local'\"}"};
    co_return fail(Code::kUnprocessable, field_errors_repr({unknown}));
  }
  const auto find = [&] { return services.store.sandbox_configs().list(request.actor.organization, page, type); };
  BJ_CO_TRY(const std::vector<SandboxConfigRow> rows, co_await offload(services.threads, find));
  json::array answer;
  for (const SandboxConfigRow& row : rows) answer.push_back(config_json(row));
  co_return json_response(200, answer);
}

Task<Result<HttpResponse>> patch(Services services, HttpRequest& request) {
  BJ_CO_TRY(const std::string id, path_id(request, "sandbox_config_id", "sandbox"));
  const auto take = [](ModelReader& reader) {
    const json::value* const config = reader.take("config", NullCounts::kAsAbsent);
    return config == nullptr ? json::value() : *config;
  };
  BJ_CO_TRY(const json::value config, read_body(request, UnknownKeys::kForbid, take));
  if (config.is_null()) co_return fail(Code::kInvalid, "there is nothing to change: send {\"config\": {...}}");
  const auto change = [&] { return services.configs.patch(request.actor, id, config); };
  BJ_CO_TRY(const SandboxConfigRow row, co_await offload(services.threads, change));
  BJ_CO_CHECK(co_await services.audit.act(request.actor, "sandbox_config.change", row.id, {{"type", row.type}}));
  co_return json_response(200, config_json(row));
}

Task<Result<HttpResponse>> remove(Services services, HttpRequest& request) {
  BJ_CO_TRY(const std::string id, path_id(request, "sandbox_config_id", "sandbox"));
  const auto remove_it = [&] { return services.store.sandbox_configs().remove(request.actor.organization, id); };
  BJ_CO_CHECK(co_await offload(services.threads, remove_it));
  BJ_CO_CHECK(co_await services.audit.act(request.actor, "sandbox_config.remove", id));
  co_return empty_response();
}

// Its name, never its value.
json::object variable_detail(const VariableRow& variable) {
  return {{"name", short_name(variable.key)}, {"sandbox_config", variable.owner}};
}

Task<Result<HttpResponse>> put_variable(Services services, HttpRequest& request) {
  BJ_CO_TRY(const std::string id, path_id(request, "sandbox_config_id", "sandbox"));
  BJ_CO_TRY(const VariableBody body, read_body(request, UnknownKeys::kForbid, read_variable_create));
  const NewVariable variable{*body.key, Secret(*body.value), body.description};
  const auto store = [&] { return services.store.sandbox_variables().upsert(request.actor, id, variable); };
  BJ_CO_TRY(const VariableRow row, co_await offload(services.threads, store));
  BJ_CO_CHECK(co_await services.audit.act(request.actor, "variable.put", row.id, variable_detail(row)));
  co_return json_response(200, sandbox_variable_json(row, shown_to(request.actor)));
}

Task<Result<HttpResponse>> list_variables(Services services, HttpRequest& request) {
  BJ_CO_TRY(const std::string id, path_id(request, "sandbox_config_id", "sandbox"));
  BJ_CO_TRY(const Page page, page_of(request, kUsualLimit, Order::kAscending));
  const auto find = [&] { return services.store.sandbox_variables().list(request.actor.organization, id, page); };
  BJ_CO_TRY(const std::vector<VariableRow> rows, co_await offload(services.threads, find));
  json::array answer;
  for (const VariableRow& row : rows) answer.push_back(sandbox_variable_json(row, shown_to(request.actor)));
  co_return json_response(200, answer);
}

Task<Result<HttpResponse>> patch_variable(Services services, HttpRequest& request) {
  BJ_CO_TRY(VariableBody body, read_body(request, UnknownKeys::kForbid, read_variable_update));
  VariableChange wanted;
  wanted.key = body.key;
  if (body.value) wanted.value = Secret::take(std::move(*body.value));
  wanted.description = body.description;
  const std::string& id = request.parameter("env_var_id");
  const auto change = [&] { return services.store.sandbox_variables().change(request.actor, id, wanted); };
  BJ_CO_TRY(const VariableRow row, co_await offload(services.threads, change));
  BJ_CO_CHECK(co_await services.audit.act(request.actor, "variable.change", row.id, variable_detail(row)));
  co_return json_response(200, sandbox_variable_json(row, shown_to(request.actor)));
}

Task<Result<HttpResponse>> remove_variable(Services services, HttpRequest& request) {
  const std::string& id = request.parameter("env_var_id");
  const auto remove_it = [&] { return services.store.sandbox_variables().remove(request.actor.organization, id); };
  BJ_CO_CHECK(co_await offload(services.threads, remove_it));
  BJ_CO_CHECK(co_await services.audit.act(request.actor, "variable.remove", id));
  co_return empty_response();
}

}  // namespace

void add_sandbox_config_routes(Router& router, const std::string& prefix, Services services) {
  RouteGroup<Services> group(router, prefix + "/sandbox-config", "sandbox configurations", services);
  const json::value config = ref("SandboxConfig"), variable = ref("SandboxEnvironmentVariable");
  const json::value any = json::object{{"type", "object"}};
  const json::value body = body_schema({{"config", any}}, {"config"});
  RouteExtras paged{Access::kByMethod, page_parameters()};
  group.add(Method::kPost, "/", put, "Create or overwrite the configuration of its type", body, config);
  group.add(Method::kPost, "/e2b/default", usual_e2b, "Get E2B's configuration", nullptr, config);
  group.add(Method::kPost, "/local/default", usual_local, "Get the local configuration", nullptr, config);
  group.add(Method::kPost, "/local", put_local, "Create or overwrite the local configuration", any, config);
  group.add(Method::kPost, "/local/recreate-venv", recreate, "Build its packages anew", nullptr, config,
            {.work = Work::kRun});
  const std::string one = "/{sandbox_config_id}";
  group.add(Method::kPatch, one, patch, "Change a configuration", body, config);
  group.add(Method::kDelete, one, remove, "Remove a configuration", nullptr, nullptr);
  const std::string variables = one + "/environment-variable";
  group.add(Method::kPost, variables, put_variable, "Set an environment variable", variable_schema(), variable);
  group.add(Method::kGet, variables, list_variables, "List environment variables", nullptr,
            array_of("SandboxEnvironmentVariable"), paged);
  const std::string by_id = "/environment-variable/{env_var_id}";
  group.add(Method::kPatch, by_id, patch_variable, "Change an environment variable", variable_schema(), variable);
  group.add(Method::kDelete, by_id, remove_variable, "Remove an environment variable", nullptr, nullptr);
  ParameterDoc type;
  type.name = "sandbox_type";
  type.description = "Only those of this type.";
  type.schema = {{"type", "string"}, {"enum", {"e2b", "modal", "local"}}};
  paged.parameters.push_back(type);
  group.add(Method::kGet, "/", list, "List configurations", nullptr, array_of("SandboxConfig"), paged);
}

}  // namespace bj::letta
