// /v1/credentials: secrets that the gate gives to requests, so that code never has them. Administrators write them,
// others see which there are and where they are used; a value never leaves.
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "api/handler.h"
#include "api/native/credential_json.h"
#include "api/native/routes.h"
#include "api/route_group.h"
#include "egress/credential_json.h"
#include "tools/call_credential.h"
#include "tools/stored_json.h"

namespace bj::native {
namespace {

namespace json = boost::json;

struct Body {
  std::string name;
  std::optional<std::string> value;
  json::object binding;
};

Body read_new(ModelReader& reader) {
  Body body;
  body.name = reader.string("name");
  body.value = reader.string("value");
  body.binding = reader.object("binding");
  return body;
}

Body read_change(ModelReader& reader) {
  Body body;
  body.value = reader.optional_string("value");
  body.binding = reader.object("binding");
  return body;
}

struct Checked {
  std::string name;
  std::string binding;  // JSON
  std::optional<Secret> value;
};

// In words that never hold the value.
Result<Checked> check(Body body) {
  const auto wrong = [](const Error& error) { return fail(Code::kUnprocessable, error.what); };
  Checked checked;
  if (body.value) checked.value = Secret::take(std::move(*body.value));
  if (const auto good = check_credential_name(body.name); !good) return wrong(good.error());
  if (checked.value) {
    if (const auto good = check_credential_value(checked.value->reveal()); !good) return wrong(good.error());
  }
  const Result<CallCredential> binding = read_binding(std::move(body.binding));
  if (!binding) return wrong(binding.error());
  checked.name = std::move(body.name);
  checked.binding = json::serialize(bj::binding_json(*binding));
  return checked;
}

// pydantic's words repeat what was sent, which here may be the value.
template <class Read>
Result<Body> read_secretly(const HttpRequest& request, Read read) {
  Result<Body> body = read_body(request, UnknownKeys::kForbid, read);
  if (body || body.error().code != Code::kUnprocessable) return body;
  return fail(Code::kUnprocessable,
              "the body must be a JSON object with \"binding\" (an object), \"value\" (a text) and, to make a new one, "
              "\"name\" (a text)");
}

json::object detail_of(const CredentialRow& row) { return {{"name", row.name}, {"binding", stored_json(row.binding)}}; }

Task<Result<HttpResponse>> list(Services services, HttpRequest& request) {
  const auto find = [&] { return services.store.credentials().list(request.actor.organization); };
  BJ_CO_TRY(const std::vector<CredentialRow> rows, co_await offload(services.threads, find));
  json::array all;
  for (const CredentialRow& row : rows) all.push_back(credential_json(row));
  co_return json_response(200, all);
}

Task<Result<HttpResponse>> get(Services services, HttpRequest& request) {
  const auto find = [&] {
    return services.store.credentials().get(request.actor.organization, request.parameter("name"));
  };
  BJ_CO_TRY(const CredentialRow row, co_await offload(services.threads, find));
  co_return json_response(200, credential_json(row));
}

Task<Result<HttpResponse>> create(Services services, HttpRequest& request) {
  BJ_CO_TRY(Body body, read_secretly(request, read_new));
  BJ_CO_TRY(const Checked checked, check(std::move(body)));
  const auto store = [&] {
    return services.store.credentials().create(request.actor, checked.name, checked.binding, *checked.value);
  };
  BJ_CO_TRY(const CredentialRow row, co_await offload(services.threads, store));
  BJ_CO_CHECK(co_await services.audit.act(request.actor, "credential.create", row.id, detail_of(row)));
  co_return json_response(200, credential_json(row));
}

Task<Result<HttpResponse>> put(Services services, HttpRequest& request) {
  BJ_CO_TRY(Body body, read_secretly(request, read_change));
  body.name = request.parameter("name");
  BJ_CO_TRY(const Checked checked, check(std::move(body)));
  const auto store = [&] {
    return services.store.credentials().put(request.actor, checked.name, checked.binding, checked.value);
  };
  BJ_CO_TRY(const CredentialRow row, co_await offload(services.threads, store));
  json::object detail = detail_of(row);
  detail["new_value"] = checked.value.has_value();
  BJ_CO_CHECK(co_await services.audit.act(request.actor, "credential.put", row.id, std::move(detail)));
  co_return json_response(200, credential_json(row));
}

Task<Result<HttpResponse>> remove(Services services, HttpRequest& request) {
  const auto remove_it = [&] {
    return services.store.credentials().remove(request.actor.organization, request.parameter("name"));
  };
  BJ_CO_TRY(const CredentialRow row, co_await offload(services.threads, remove_it));
  BJ_CO_CHECK(co_await services.audit.act(request.actor, "credential.remove", row.id, {{"name", row.name}}));
  co_return empty_response();
}

}  // namespace

void add_credential_routes(Router& router, Services services) {
  RouteGroup<Services> group(router, "/v1/credentials", "network", services);
  const json::value object = json::object{{"type", "object"}};
  const json::value text = json::object{{"type", "string"}};
  const json::value change = json::object{
      {"type", "object"}, {"properties", {{"value", text}, {"binding", object}}}, {"required", {"binding"}}};
  const json::value fresh = json::object{{"type", "object"},
                                         {"properties", {{"name", text}, {"value", text}, {"binding", object}}},
                                         {"required", {"name", "value", "binding"}}};
  const RouteExtras for_admins{.access = Access::kAdmin};
  group.add(Method::kGet, "", list, "List credentials and where they are used, never their values", nullptr,
            json::object{{"type", "array"}, {"items", object}});
  group.add(Method::kPost, "", create, "Add a credential that the gate gives to requests", fresh, object, for_admins);
  group.add(Method::kGet, "/{name}", get, "Where a credential is used", nullptr, object);
  group.add(Method::kPut, "/{name}", put, "Make or change a credential; without a value it keeps its own", change,
            object, for_admins);
  group.add(Method::kDelete, "/{name}", remove, "Remove a credential", nullptr, nullptr, for_admins);
}

}  // namespace bj::native
