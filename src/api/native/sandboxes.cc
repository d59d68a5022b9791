// /v1/sandboxes: made, listed, looked at, paused, resumed, ended.
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "api/client_watch.h"
#include "api/handler.h"
#include "api/idempotency_key.h"
#include "api/native/registry_login.h"
#include "api/native/sandbox_json.h"
#include "api/native/sandbox_routes.h"
#include "api/native/telling_quotas.h"
#include "api/route_group.h"
#include "api/time_text.h"
#include "base/compact_id.h"
#include "control/build_log.h"
#include "control/lifecycle.h"
#include "server/event_stream.h"
#include "sys/swap.h"

namespace bj::native {
namespace {

namespace json = boost::json;

constexpr int64_t kUsualLimit = 100;
constexpr std::string_view kMetadataPrefix = "metadata.";

std::optional<double> optional_number(ModelReader& reader, std::string_view key) {
  const json::value* const value = reader.take(key, NullCounts::kAsAbsent);
  if (value == nullptr) return std::nullopt;
  if (value->is_number()) return value->to_number<double>();
  reader.wrong(key, {"float_type", "Input should be a valid number"}, *value);
  return std::nullopt;
}

void read_limits(ModelReader& body, NewSandbox& wanted) {
  const json::value* const value = body.take("limits", NullCounts::kAsAbsent);
  if (value == nullptr) return;
  ModelReader reader(*value, body.loc("limits"), body.errors());
  wanted.cpus = optional_number(reader, "cpus");
  wanted.memory_bytes = reader.optional_integer("memory_bytes");
  wanted.disk_bytes = reader.optional_integer("disk_bytes");
  wanted.processes = reader.optional_integer("processes");
  reader.finish(UnknownKeys::kForbid);
}

void read_volumes(ModelReader& body, NewSandbox& wanted) {
  const json::value* const value = body.take("volumes", NullCounts::kAsAbsent);
  if (value == nullptr) return;
  if (!value->is_array()) return body.wrong("volumes", {"list_type", "Input should be a valid list"}, *value);
  for (const json::value& one : value->get_array()) {
    if (are_enough(body.errors())) break;
    ModelReader reader(one, body.loc("volumes"), body.errors());
    VolumeWish wish;
    wish.name = reader.string("name", 1);
    wish.path = reader.string("path", 1);
    wish.read_only = reader.boolean_or("read_only", false);
    reader.finish(UnknownKeys::kForbid);
    wanted.wishes.volumes.push_back(std::move(wish));
  }
}

// A sandbox of a template, or of an image, which is pulled first.
struct NewBody {
  NewSandbox wanted;
  std::string image;
  RegistryLogin login;
};

NewBody read_new(ModelReader& reader) {
  NewBody body;
  NewSandbox& wanted = body.wanted;
  const bool has_template = reader.given("template");
  wanted.template_name = reader.string_or("template", "base");
  body.image = reader.optional_string("image").value_or("");
  if (has_template && !body.image.empty())
    reader.wrong("image", {"value_error", "A sandbox is made of a template or of an image, not of both"},
                 json::value(body.image));
  read_registry(reader, body.login);
  wanted.timeout_s = reader.optional_integer("timeout");
  wanted.on_timeout = reader.choice_or("on_timeout", "kill", {"kill", "pause", "stop"});
  wanted.environment = reader.optional_string_map("env").value_or(SandboxEnvironment());
  wanted.metadata = reader.optional_string_map("metadata").value_or(SandboxEnvironment());
  wanted.user = reader.optional_string("user").value_or("");
  read_limits(reader, wanted);
  read_volumes(reader, wanted);
  wanted.wishes.git.url = reader.optional_string("git_url").value_or("");
  wanted.wishes.git.branch = reader.optional_string("git_branch").value_or("");
  wanted.wishes.git.path = reader.optional_string("git_path").value_or("");
  wanted.wishes.extend_on_activity = reader.boolean_or("extend_on_activity", false);
  if (const json::value* const network = reader.take("network", NullCounts::kAsAbsent))
    wanted.network = json::serialize(*network);
  wanted.credentials = reader.optional_strings("credentials").value_or(std::vector<std::string>());
  return body;
}

// What is wrong with an image's name is wrong with the request.
Code as_asked(Code code) {
  return code == Code::kInvalid || code == Code::kNotFound || code == Code::kDenied ? Code::kUnprocessable : code;
}

Task<Result<SandboxRow>> make(SandboxServices services, Actor actor, std::shared_ptr<NewBody> body,
                              PullProgress progress) {
  if (!body->image.empty()) {
    Result<std::string> name =
        co_await services.builder.of_image(actor, body->image, std::move(body->login), std::move(progress));
    if (!name) co_return fail(as_asked(name.error().code), "image: " + name.error().what);
    body->wanted.template_name = std::move(*name);
  }
  co_return co_await services.manager.create(actor, std::move(body->wanted));
}

// What the pull says as events, then the sandbox. It is made whether or not somebody listens.
Task<void> tell_making(SandboxServices services, Actor actor, std::shared_ptr<NewBody> body, EventStream& events) {
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  const auto log = std::make_shared<BuildLog>(executor);
  const auto outcome = std::make_shared<std::optional<Result<SandboxRow>>>();
  services.manager.run([services, actor, body, log, outcome]() -> Task<void> {
    *outcome = co_await make(services, actor, body, [log](const std::string& line) { log->add(0, "info", "", line); });
    log->close();
  });
  const ClientWatch watch(executor, [&events] { return events.gone(); }, [log] { log->wake(); });
  for (size_t place = 0; !events.gone();) {
    const std::optional<BuildLogRow> entry = co_await log->at(place);
    if (!entry && log->closed()) break;
    if (!entry) continue;
    ++place;
    if (!co_await events.send("progress", json::serialize(json::object{{"message", entry->message}}))) co_return;
  }
  if (!*outcome) co_return;
  const Result<SandboxRow>& made = **outcome;
  if (made) {
    (void)co_await events.send("end", json::serialize(sandbox_json(*made)));
  } else {
    (void)co_await events.send("failed", json::serialize(json::object{{"detail", made.error().what}}));
  }
}

Task<Result<HttpResponse>> create(SandboxServices services, HttpRequest& request) {
  const auto body = std::make_shared<NewBody>();
  if (!request.body.empty()) {
    BJ_CO_TRY(*body, read_body(request, UnknownKeys::kForbid, read_new));
  }
  BJ_CO_TRY(body->wanted.idempotency_key, idempotency_key_of(request));
  if (request.headers.get("accept").find("text/event-stream") != std::string_view::npos) {
    co_return event_stream([services, actor = request.actor, body](EventStream& events) {
      return tell_making(services, actor, body, events);
    });
  }
  BJ_CO_TRY(const SandboxRow row, co_await make(services, request.actor, body, [](const std::string&) {}));
  co_return json_response(200, sandbox_json(row));
}

Result<SandboxFilter> filter_of(const HttpRequest& request) {
  SandboxFilter filter;
  filter.states = list_of(request, "state");
  for (const std::string& state : filter.states) {
    if (!state_of(state)) return fail(Code::kUnprocessable, "there is no state \"" + state + "\"");
  }
  if (MaybeText name = query_text(request, "template")) filter.templates = {std::move(*name)};
  BJ_TRY(filter.also_kept, query_flag(request, "kept"));
  for (const auto& [name, value] : request.query) {
    if (name.starts_with(kMetadataPrefix)) filter.metadata[name.substr(kMetadataPrefix.size())] = value;
  }
  return filter;
}

Task<Result<HttpResponse>> list(SandboxServices services, HttpRequest& request) {
  BJ_CO_TRY(const Page page, page_of(request, kUsualLimit, Order::kDescending));
  BJ_CO_TRY(SandboxFilter filter, filter_of(request));
  BJ_CO_TRY(const std::vector<SandboxRow> rows,
            co_await services.manager.list(request.actor.organization, std::move(filter), page));
  json::array sandboxes;
  for (const SandboxRow& row : rows) sandboxes.push_back(sandbox_json(row));
  co_return json_response(200, sandboxes);
}

Task<Result<HttpResponse>> get(SandboxServices services, HttpRequest& request) {
  BJ_CO_TRY(const std::string id, sandbox_id_of(request));
  BJ_CO_TRY(const SandboxRow row, co_await services.manager.get(request.actor.organization, id));
  co_return json_response(200, sandbox_json(row));
}

Task<Result<HttpResponse>> remove(SandboxServices services, HttpRequest& request) {
  BJ_CO_TRY(const std::string id, sandbox_id_of(request));
  BJ_CO_TRY(MaybeText key, idempotency_key_of(request));
  BJ_CO_CHECK(co_await services.manager.remove(request.actor, id, std::move(key)));
  co_return empty_response();
}

struct TimeoutBody {
  int64_t seconds = 0;
  bool only_longer = false;
};

TimeoutBody read_timeout(ModelReader& reader) {
  TimeoutBody body;
  const json::value* const given = reader.required("timeout");
  if (given != nullptr && given->is_int64()) {
    body.seconds = given->get_int64();
  } else if (given != nullptr) {
    reader.wrong("timeout", {"int_type", "Input should be a valid integer"}, *given);
  }
  body.only_longer = reader.boolean_or("only_longer", false);
  return body;
}

Task<Result<HttpResponse>> set_timeout(SandboxServices services, HttpRequest& request) {
  BJ_CO_TRY(const std::string id, sandbox_id_of(request));
  BJ_CO_TRY(const TimeoutBody body, read_body(request, UnknownKeys::kForbid, read_timeout));
  const TimeoutRule rule = body.only_longer ? TimeoutRule::kOnlyLonger : TimeoutRule::kSet;
  BJ_CO_TRY(MaybeText key, idempotency_key_of(request));
  BJ_CO_TRY(const SandboxRow row,
            co_await services.manager.set_timeout(request.actor, id, body.seconds, rule, std::move(key)));
  co_return json_response(200, sandbox_json(row));
}

Task<Result<HttpResponse>> pause(SandboxServices services, HttpRequest& request) {
  BJ_CO_TRY(const std::string id, sandbox_id_of(request));
  bool memory = true;
  if (!request.body.empty()) {
    const auto read = [](ModelReader& reader) { return reader.boolean_or("memory", true); };
    BJ_CO_TRY(memory, read_body(request, UnknownKeys::kForbid, read));
  }
  const PauseKeeps keeps = memory ? PauseKeeps::kMemory : PauseKeeps::kFiles;
  BJ_CO_TRY(MaybeText key, idempotency_key_of(request));
  BJ_CO_TRY(const PauseReport report, co_await services.manager.pause(request.actor, id, keeps, std::move(key)));
  BJ_CO_TRY(const SandboxRow row, co_await services.manager.get(request.actor.organization, id));
  json::object answer = sandbox_json(row);
  answer["memory_before_bytes"] = report.memory_before;
  answer["memory_after_bytes"] = report.memory_after;
  answer["swap"] = machine_has_swap();  // without it, only file cache could be given back
  co_return json_response(200, answer);
}

Task<Result<HttpResponse>> resume(SandboxServices services, HttpRequest& request) {
  BJ_CO_TRY(const std::string id, sandbox_id_of(request));
  BJ_CO_TRY(MaybeText key, idempotency_key_of(request));
  BJ_CO_TRY(const Resumed resumed, co_await services.manager.resume(request.actor, id, {}, std::move(key)));
  json::object answer = sandbox_json(resumed.row);
  answer["resumed"] = resumed.cold ? "cold" : "warm";
  co_return json_response(200, answer);
}

Task<Result<HttpResponse>> stop(SandboxServices services, HttpRequest& request) {
  BJ_CO_TRY(const std::string id, sandbox_id_of(request));
  BJ_CO_TRY(MaybeText key, idempotency_key_of(request));
  BJ_CO_TRY(const SandboxRow row, co_await services.manager.stop_keeping_files(request.actor, id, std::move(key)));
  co_return json_response(200, sandbox_json(row));
}

Task<Result<HttpResponse>> metrics(SandboxServices services, HttpRequest& request) {
  BJ_CO_TRY(const std::string id, sandbox_id_of(request));
  BJ_CO_TRY(const auto sandbox, co_await services.manager.held(request.actor.organization, id));
  BJ_CO_TRY(const SandboxMetrics measured, co_await sandbox->live->metrics());
  co_return json_response(200, metrics_json(measured));
}

Task<Result<HttpResponse>> logs(SandboxServices services, HttpRequest& request) {
  BJ_CO_TRY(const std::string id, sandbox_id_of(request));
  BJ_CO_TRY(const auto sandbox, co_await services.manager.held(request.actor.organization, id));
  json::array lines;
  for (const LogLine& line : sandbox->log.lines()) {
    lines.push_back(json::object{{"time", time_text(line.time)}, {"level", line.level}, {"message", line.message}});
  }
  co_return json_response(200, lines);
}

}  // namespace

Result<std::string> sandbox_id_of(const HttpRequest& request) {
  const std::string& id = request.parameter("sandbox_id");
  if (is_compact_id("sb", id)) return id;
  return fail(Code::kNotFound, "there is no such sandbox");
}

Task<Result<std::shared_ptr<HeldSandbox>>> running_sandbox(SandboxServices services, const HttpRequest& request) {
  BJ_CO_TRY(std::string id, sandbox_id_of(request));
  co_return co_await services.manager.running(request.actor.organization, std::move(id));
}

void add_lifecycle_routes(Router& router, SandboxServices services) {
  RouteGroup<SandboxServices> group(router, "/v1/sandboxes", "sandboxes", services);
  const json::value object = json::object{{"type", "object"}};
  const json::value text = json::object{{"type", "string"}};
  const json::value whole = json::object{{"type", "integer"}};
  const json::value body = json::object{{"type", "object"},
                                        {"properties",
                                         {{"template", text},
                                          {"image", text},
                                          {"registry", object},
                                          {"timeout", whole},
                                          {"on_timeout", {{"type", "string"}, {"enum", {"kill", "pause", "stop"}}}},
                                          {"env", object},
                                          {"metadata", object},
                                          {"user", text},
                                          {"limits", object},
                                          {"volumes", {{"type", "array"}, {"items", object}}},
                                          {"git_url", text},
                                          {"git_branch", text},
                                          {"git_path", text},
                                          {"extend_on_activity", {{"type", "boolean"}}},
                                          {"network", json::object()},
                                          {"credentials", {{"type", "array"}, {"items", text}}}}}};
  const json::value timeout =
      json::object{{"type", "object"},
                   {"required", {"timeout"}},
                   {"properties", {{"timeout", whole}, {"only_longer", {{"type", "boolean"}}}}}};
  RouteExtras filtered{Access::kByMethod, page_parameters()};
  for (const char* name : {"state", "kept", "template", "metadata.KEY"}) {
    ParameterDoc doc;
    doc.name = name;
    doc.description = "Shows only sandboxes that match.";
    filtered.parameters.push_back(doc);
  }
  group.add(Method::kPost, "", telling_quotas<create>,
            "Create a sandbox, of a template or an image, to its end or as events (Accept: text/event-stream); an "
            "Idempotency-Key makes it safe to repeat",
            body, object);
  group.add(Method::kGet, "", list, "List sandboxes, newest first", nullptr,
            json::object{{"type", "array"}, {"items", object}}, filtered);
  group.add(Method::kGet, "/{sandbox_id}", get, "Get a sandbox", nullptr, object);
  group.add(Method::kDelete, "/{sandbox_id}", remove, "End a sandbox and forget it", nullptr, nullptr);
  group.add(Method::kPost, "/{sandbox_id}/timeout", set_timeout, "Let it end so many seconds from now", timeout,
            object);
  const json::value pausing =
      json::object{{"type", "object"}, {"properties", {{"memory", {{"type", "boolean"}, {"default", true}}}}}};
  group.add(
      Method::kPost, "/{sandbox_id}/pause", telling_quotas<pause>,
      "Stop its processes where they are, or, without memory, end them and keep the files; tells what memory came "
      "back",
      pausing, object);
  for (const char* word : {"resume", "start"}) {
    group.add(Method::kPost, std::string("/{sandbox_id}/") + word, telling_quotas<resume>,
              "Let a paused sandbox go on, or start a stopped one with its files; it has its whole timeout again",
              nullptr, object);
  }
  group.add(Method::kPost, "/{sandbox_id}/stop", telling_quotas<stop>, "End its processes and keep its files", nullptr,
            object);
  group.add(Method::kGet, "/{sandbox_id}/metrics", metrics, "What it uses now", nullptr, object);
  group.add(Method::kGet, "/{sandbox_id}/logs", logs, "What happened to it lately", nullptr,
            json::object{{"type", "array"}, {"items", object}});
}

void add_sandbox_routes(Router& router, SandboxServices services) {
  add_lifecycle_routes(router, services);
  add_network_route(router, services);
  add_snapshot_routes(router, services);
  add_command_routes(router, services);
  add_context_routes(router, services);
  add_terminal_route(router, services);
  add_file_routes(router, services);
  add_file_content_routes(router, services);
}

}  // namespace bj::native
