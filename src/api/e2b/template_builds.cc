// Builds of templates: the files of their COPY steps, their beginning, how they stand.
#include <openssl/crypto.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <charconv>
#include <ctime>

#include "api/e2b/log_level.h"
#include "api/e2b/template_routes.h"
#include "api/handler.h"
#include "api/receive_files.h"
#include "api/time_text.h"
#include "base/id.h"

namespace bj::e2b {
namespace {

namespace json = boost::json;

constexpr int64_t kLinkSeconds = 3600;
constexpr int64_t kMostLogs = 100;

std::string hmac_hex(const std::string& secret, const std::string& text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned size = 0;
  ::HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
         reinterpret_cast<const unsigned char*>(text.data()), text.size(), bytes.data(), &size);
  std::string hex;
  for (unsigned i = 0; i < size; ++i) {
    hex += "0123456789abcdef"[bytes[i] >> 4];
    hex += "0123456789abcdef"[bytes[i] & 15];
  }
  return hex;
}

// What a link lets its holder do: write these files of this organization, until then.
std::string signature(const TemplateRoutes& routes, const std::string& organization, const std::string& hash,
                      const std::string& expires) {
  return hmac_hex(routes.secret, organization + "\n" + hash + "\n" + expires);
}

Result<std::string> build_id_of(const HttpRequest& request) {
  const std::string& id = request.parameter("build");
  if (is_uuid4(id)) return id;
  return fail(Code::kInvalid, "a build's id is a UUID");
}

Task<Result<TemplateBuildRow>> own_build(const TemplateRoutes& routes, const HttpRequest& request) {
  BJ_CO_TRY(const std::string id, build_id_of(request));
  const std::string& reference = request.parameter("template");
  const auto read = [&]() -> Result<TemplateBuildRow> {
    BJ_TRY(const TemplateView view, routes.templates.catalog.own(request.actor.organization, reference));
    return routes.templates.catalog.builds().get(view.row.id, id);
  };
  co_return co_await offload(routes.templates.threads, read);
}

Task<Result<HttpResponse>> upload_link(const TemplateRoutes& routes, HttpRequest& request) {
  const std::string &hash = request.parameter("hash"), &reference = request.parameter("template");
  if (!is_files_hash(hash)) co_return fail(Code::kInvalid, "a hash of files is 64 hexadecimal digits");
  const std::string& organization = request.actor.organization;
  const auto look = [&]() -> Result<bool> {
    BJ_CHECK(routes.templates.catalog.own(organization, reference));
    return routes.templates.files.has(organization, hash);
  };
  BJ_CO_TRY(const bool present, co_await offload(routes.templates.threads, look));
  const std::string expires = std::to_string(std::time(nullptr) + kLinkSeconds);
  const std::string url = routes.scheme + "://" + std::string(request.headers.get("host")) + "/template-files/" +
                          organization + "/" + hash + "?expires=" + expires +
                          "&signature=" + signature(routes, organization, hash, expires);
  co_return json_response(201, json::object{{"present", present}, {"url", url}});
}

Task<Result<HttpResponse>> upload(const TemplateRoutes& routes, HttpRequest& request) {
  const std::string organization = request.parameter("organization"), hash = request.parameter("hash");
  const std::string expires = query_text(request, "expires").value_or("");
  const std::string given = query_text(request, "signature").value_or("");
  const std::string wanted = signature(routes, organization, hash, expires);
  int64_t until = 0;
  std::from_chars(expires.data(), expires.data() + expires.size(), until);
  const bool genuine = given.size() == wanted.size() && CRYPTO_memcmp(given.data(), wanted.data(), given.size()) == 0;
  if (!genuine || until < std::time(nullptr)) co_return fail(Code::kDenied, "the link is not valid, or no longer");
  std::optional<HttpResponse> failed = co_await receive_files(routes.templates, request, organization, hash);
  if (failed) co_return std::move(*failed);
  HttpResponse response;
  response.status = 200;
  co_return response;
}

Result<BuildRequest> read_request(const json::object& body) {
  BuildRequest request;
  request.from_template = text_of(body, "fromTemplate");
  request.from_image = text_of(body, "fromImage");
  request.start_command = text_of(body, "startCmd");
  request.ready_command = text_of(body, "readyCmd");
  const auto flag = [](const json::object& object, const char* key) {
    const json::value* const value = object.if_contains(key);
    return value != nullptr && value->is_bool() && value->get_bool();
  };
  request.force = flag(body, "force");
  const json::value* const steps = body.if_contains("steps");
  if (steps == nullptr || steps->is_null()) return request;
  if (!steps->is_array()) return fail(Code::kInvalid, "steps must be a list");
  for (const json::value& one : steps->get_array()) {
    if (!one.is_object()) return fail(Code::kInvalid, "a step must be an object");
    const json::object& step = one.get_object();
    BJ_TRY(BuildStep made,
           make_step(text_of(step, "type"), texts_of(step, "args"), text_of(step, "filesHash"), flag(step, "force")));
    request.steps.push_back(std::move(made));
  }
  return request;
}

Result<RegistryLogin> read_login(const json::object& body) {
  RegistryLogin login;
  const json::value* const given = body.if_contains("fromImageRegistry");
  if (given == nullptr || !given->is_object()) return login;
  const json::object& registry = given->get_object();
  if (text_of(registry, "type") != "registry")
    return fail(Code::kInvalid, "only registries with a user name and a password are known here");
  login.user = text_of(registry, "username");
  login.password = Secret::take(text_of(registry, "password"));
  return login;
}

Task<Result<HttpResponse>> begin(const TemplateRoutes& routes, HttpRequest& request) {
  BJ_CO_TRY(const json::object body, body_of(request));
  BJ_CO_TRY(BuildRequest wanted, read_request(body));
  BJ_CO_TRY(RegistryLogin login, read_login(body));
  BJ_CO_TRY(const TemplateBuildRow row, co_await own_build(routes, request));
  BJ_CO_CHECK(co_await routes.templates.builder.begin(request.actor, row.template_id, row.id, std::move(wanted),
                                                      std::move(login)));
  HttpResponse response;
  response.status = 202;
  co_return response;
}

int64_t number_in(const HttpRequest& request, std::string_view name, int64_t usual) {
  const MaybeText text = query_text(request, name);
  int64_t number = usual;
  if (text) std::from_chars(text->data(), text->data() + text->size(), number);
  return std::max<int64_t>(0, number);
}

// As E2B names it.
std::string level_of(const BuildLogRow& entry) { return entry.level == "cut" ? "warn" : entry.level; }

json::object entry_json(const BuildLogRow& entry) {
  json::object object{{"timestamp", time_text(entry.time)}, {"level", level_of(entry)}, {"message", entry.message}};
  if (!entry.step.empty()) object["step"] = entry.step;
  return object;
}

// From memory while it goes on, else from the store.
Task<Result<std::vector<BuildLogRow>>> logs_of(const TemplateRoutes& routes, std::string build, int64_t from,
                                               int64_t limit) {
  if (const std::shared_ptr<BuildLog> log = routes.templates.builder.log_of(build)) {
    std::vector<BuildLogRow> entries;
    for (size_t i = static_cast<size_t>(from); i < log->entries().size() && std::ssize(entries) < limit; ++i)
      entries.push_back(log->entries()[i]);
    co_return entries;
  }
  const auto read = [&] { return routes.templates.catalog.builds().logs(build, from, limit); };
  co_return co_await offload(routes.templates.threads, read);
}

// ?level=: those of that level and above; an offset counts these.
Task<Result<std::vector<BuildLogRow>>> logs_of_level(const TemplateRoutes& routes, const HttpRequest& request,
                                                     std::string build, int64_t from, int64_t limit) {
  const std::string level = query_text(request, "level").value_or("");
  BJ_CO_CHECK(check_log_level(level));
  if (level.empty()) co_return co_await logs_of(routes, std::move(build), from, limit);
  BJ_CO_TRY(std::vector<BuildLogRow> entries, co_await logs_of(routes, std::move(build), 0, INT64_MAX));
  std::erase_if(entries, [&level](const BuildLogRow& entry) { return !is_at_least(level_of(entry), level); });
  entries.erase(entries.begin(), entries.begin() + std::min(from, std::ssize(entries)));
  if (std::ssize(entries) > limit) entries.resize(static_cast<size_t>(limit));
  co_return entries;
}

Task<Result<HttpResponse>> status(const TemplateRoutes& routes, HttpRequest& request) {
  const int64_t limit = std::min(kMostLogs, number_in(request, "limit", kMostLogs));
  // The status first: a build that is over has said everything.
  BJ_CO_TRY(const TemplateBuildRow row, co_await own_build(routes, request));
  BJ_CO_TRY(const std::vector<BuildLogRow> logs,
            co_await logs_of_level(routes, request, row.id, number_in(request, "logsOffset", 0), limit));
  json::array lines, entries;
  for (const BuildLogRow& log : logs) {
    lines.emplace_back(log.message);
    entries.push_back(entry_json(log));
  }
  json::object answer{{"templateID", row.template_id},
                      {"buildID", row.id},
                      {"status", row.status},
                      {"logs", std::move(lines)},
                      {"logEntries", std::move(entries)}};
  if (row.status == "error") {
    json::object reason{{"message", row.reason_message}, {"logEntries", json::array()}};
    if (!row.reason_step.empty()) reason["step"] = row.reason_step;
    answer["reason"] = std::move(reason);
  }
  co_return json_response(200, answer);
}

Task<Result<HttpResponse>> logs(const TemplateRoutes& routes, HttpRequest& request) {
  BJ_CO_TRY(const TemplateBuildRow row, co_await own_build(routes, request));
  const int64_t limit = std::min(kMostLogs, number_in(request, "limit", kMostLogs));
  BJ_CO_TRY(std::vector<BuildLogRow> found, co_await logs_of_level(routes, request, row.id, 0, INT64_MAX));
  const bool backward = query_text(request, "direction").value_or("") == "backward";
  if (backward) std::reverse(found.begin(), found.end());
  const int64_t cursor_ms = number_in(request, "cursor", backward ? INT64_MAX : 0);
  json::array entries;
  for (const BuildLogRow& log : found) {
    const bool wanted = backward ? log.time / 1000 <= cursor_ms : log.time / 1000 >= cursor_ms;
    if (wanted && std::ssize(entries) < limit) entries.push_back(entry_json(log));
  }
  co_return json_response(200, json::object{{"logs", std::move(entries)}});
}

}  // namespace

void add_template_build_routes(Router& router, const TemplateRoutes& routes) {
  const auto add = [&](Method method, const char* path, TemplateHandler handler, const char* summary) {
    add_template_route(router, routes, method, path, handler, summary);
  };
  add_template_route(router, routes, Method::kGet, "/templates/{template}/files/{hash}", upload_link,
                     "Where the files of a COPY step go", Access::kMember);  // it gives a link out that writes
  add(Method::kPost, "/v2/templates/{template}/builds/{build}", begin, "Begin a build");
  add(Method::kGet, "/templates/{template}/builds/{build}/status", status, "How a build stands, and what it says");
  add(Method::kGet, "/templates/{template}/builds/{build}/logs", logs, "What a build says");
  add_template_route(router, routes, Method::kPut, "/template-files/{organization}/{hash}", upload,
                     "The files of a COPY step, by a signed link", Access::kPublic, BodyKind::kStreamed);
}

}  // namespace bj::e2b
