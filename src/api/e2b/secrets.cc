// /secrets: made, listed, changed, removed; what an answer holds is never the value.
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "api/e2b/page_token.h"
#include "api/e2b/secret_routes.h"
#include "api/e2b/secret_uses.h"
#include "api/e2b/services.h"
#include "api/handler.h"
#include "api/time_text.h"
#include "tools/stored_json.h"

namespace bj::e2b {
namespace {

namespace json = boost::json;

constexpr size_t kLongestName = 256;
constexpr size_t kLongestValue = 8192;
constexpr size_t kMostNotes = 32, kLongestNoteName = 128, kLongestNote = 1024, kMostNoteBytes = 8192;

using Notes = std::map<std::string, std::string>;

struct Body {
  std::optional<std::string> name, value;
  std::optional<Notes> metadata;
};

// The reader's own words repeat what was sent, which here may be the value.
Result<Body> read_secretly(const HttpRequest& request) {
  const auto read = [](ModelReader& reader) {
    Body body;
    body.name = reader.optional_string("name");
    body.value = reader.optional_string("value");
    body.metadata = reader.optional_string_map("metadata");
    return body;
  };
  Result<Body> body = read_body(request, UnknownKeys::kIgnore, read);
  if (body || body.error().code != Code::kUnprocessable) return body;
  return fail(Code::kInvalid,
              "the body must be a JSON object with name and value (texts) and metadata (texts by name)");
}

// "${e2b.secrets.<name>}" is how a rule names it.
Result<void> check_name(const std::string& name) {
  const auto unusable = [](char c) {
    return c == '{' || c == '}' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  };
  if (name.empty() || name.size() > kLongestName || std::any_of(name.begin(), name.end(), unusable))
    return fail(Code::kInvalid, "a secret's name has 1 to 256 bytes, without { and } and control characters");
  return {};
}

Result<Secret> value_of(Body& body) {
  if (!body.value || body.value->empty() || body.value->size() > kLongestValue)
    return fail(Code::kInvalid, "a secret's value has 1 to 8192 bytes");
  return Secret::take(std::move(*body.value));
}

Result<std::string> metadata_text(const Notes& notes) {
  size_t total = 0;
  json::object object;
  for (const auto& [name, note] : notes) {
    total += name.size() + note.size();
    if (name.size() > kLongestNoteName || note.size() > kLongestNote)
      return fail(Code::kInvalid, "a name of metadata has 128 bytes at most, a value 1024");
    object[name] = note;
  }
  if (notes.size() > kMostNotes || total > kMostNoteBytes)
    return fail(Code::kInvalid, "metadata has 32 entries and 8192 bytes at most");
  return json::serialize(object);
}

json::object secret_json(const SecretRow& row) {
  return {{"secretID", row.id},
          {"name", row.name},
          {"currentVersion", row.version},
          {"metadata", stored_json(row.metadata)},
          {"createdAt", time_text(row.stamp.created_at)},
          {"updatedAt", time_text(row.stamp.updated_at)}};
}

void receipt(SecretRoutes& routes, const HttpRequest& request, const char* action, const SecretRow& row) {
  Event event;
  event.kind = EventKind::kAdministration;
  event.action = action;
  event.actor = request.actor;
  event.subject = row.id;
  event.outcome = "success";
  event.detail = {{"name", short_name(row.name)}, {"version", row.version}};
  routes.audit.add(event);
}

Task<Result<HttpResponse>> create(SecretRoutes& routes, HttpRequest& request) {
  BJ_CO_TRY(Body body, read_secretly(request));
  BJ_CO_CHECK(check_name(body.name.value_or("")));
  BJ_CO_TRY(const Secret value, value_of(body));
  BJ_CO_TRY(const std::string metadata, metadata_text(body.metadata.value_or(Notes())));
  BJ_CO_CHECK(co_await routes.audit.admit());
  const auto work = [&] { return routes.secrets.create(request.actor, *body.name, metadata, value); };
  BJ_CO_TRY(const SecretRow row, co_await offload(routes.threads, work));
  receipt(routes, request, "secret.create", row);
  co_return json_response(201, secret_json(row));
}

Task<Result<HttpResponse>> list(SecretRoutes& routes, HttpRequest& request) {
  BJ_CO_TRY(const Page page, newest_page(request));
  const auto work = [&] { return routes.secrets.list(request.actor.organization, page); };
  BJ_CO_TRY(std::vector<SecretRow> rows, co_await offload(routes.threads, work));
  const bool more = std::ssize(rows) == *page.limit;
  if (more) rows.pop_back();
  json::array secrets;
  for (const SecretRow& row : rows) secrets.push_back(secret_json(row));
  HttpResponse response = json_response(200, secrets);
  if (more)
    response.headers.add("X-Next-Token",
                         page_token(time_text(rows.back().stamp.created_at), rows.back().id, page.order));
  co_return response;
}

Task<Result<HttpResponse>> get(SecretRoutes& routes, HttpRequest& request) {
  const auto work = [&] { return routes.secrets.get(request.actor.organization, request.parameter("secretID")); };
  BJ_CO_TRY(const SecretRow row, co_await offload(routes.threads, work));
  co_return json_response(200, secret_json(row));
}

Task<Result<HttpResponse>> update(SecretRoutes& routes, HttpRequest& request) {
  BJ_CO_TRY(Body body, read_secretly(request));
  BJ_CO_TRY(const Secret value, value_of(body));
  std::optional<std::string> metadata;
  if (body.metadata) {
    BJ_CO_TRY(metadata, metadata_text(*body.metadata));
  }
  BJ_CO_CHECK(co_await routes.audit.admit());
  const auto work = [&] {
    return routes.secrets.update(request.actor, request.parameter("secretID"), metadata, value);
  };
  BJ_CO_TRY(const SecretRow row, co_await offload(routes.threads, work));
  co_await renew_secret_uses(routes.manager, request.actor, row.name);
  receipt(routes, request, "secret.update", row);
  co_return json_response(200, secret_json(row));
}

Task<Result<HttpResponse>> remove(SecretRoutes& routes, HttpRequest& request) {
  BJ_CO_CHECK(co_await routes.audit.admit());
  const auto work = [&] { return routes.secrets.remove(request.actor.organization, request.parameter("secretID")); };
  BJ_CO_TRY(const SecretRow row, co_await offload(routes.threads, work));
  co_await end_secret_uses(routes.manager, request.actor, row.name);
  receipt(routes, request, "secret.delete", row);
  co_return empty_response();
}

using SecretHandler = Task<Result<HttpResponse>> (*)(SecretRoutes&, HttpRequest&);

}  // namespace

void add_secret_routes(Router& router, SecretRoutes& routes) {
  const auto add = [&](Method method, const char* path, SecretHandler handler, const char* summary) {
    RouteOptions options;
    options.errors = ErrorForm::kCodeAndMessage;
    options.doc.tag = "e2b";
    options.doc.summary = summary;
    router.add(method, path, answering([&routes, handler](HttpRequest& request) { return handler(routes, request); }),
               std::move(options));
  };
  add(Method::kPost, "/secrets", create, "Create a secret");
  add(Method::kGet, "/secrets", list, "List secrets in pages, without their values");
  add(Method::kGet, "/secrets/{secretID}", get, "Get a secret by id or name, without its value");
  add(Method::kPost, "/secrets/{secretID}", update, "Give a secret another value");
  add(Method::kDelete, "/secrets/{secretID}", remove, "Remove a secret");
}

}  // namespace bj::e2b
