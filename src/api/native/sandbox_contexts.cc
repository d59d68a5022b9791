// /v1/sandboxes/{sandbox_id}/contexts: stateful interpreters; code executed in them, interrupted, checkpointed, rolled
// back.
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "api/execution_json.h"
#include "api/handler.h"
#include "api/native/sandbox_routes.h"
#include "api/route_group.h"

namespace bj::native {
namespace {

namespace json = boost::json;

constexpr int64_t kUsualTimeoutS = 60;
constexpr int64_t kLongestTimeoutS = 24 * 3600;

json::object context_json(const InterpreterContext& context) {
  return {{"id", context.id()},
          {"language", name_of(context.language())},
          {"cwd", context.directory()},
          {"executions", context.count()},
          {"running", context.running()}};
}

json::object checkpoint_json(const ContextCheckpoint& checkpoint) {
  const auto age = std::chrono::duration<double>(Clock::now() - checkpoint.made).count();
  return {{"id", checkpoint.id}, {"executions", checkpoint.count}, {"age_seconds", age}};
}

struct ContextBody {
  std::string language, directory;
};

ContextBody read_context(ModelReader& reader) {
  return {reader.string_or("language", "python"), reader.optional_string("cwd").value_or("")};
}

struct CodeBody {
  Execution execution;
  std::string language;
};

Execution read_execution(ModelReader& reader) {
  Execution execution;
  execution.code = reader.string("code");
  execution.environment = reader.optional_string_map("env").value_or(SandboxEnvironment());
  const int64_t timeout_s = reader.optional_integer("timeout", {0, kLongestTimeoutS}).value_or(kUsualTimeoutS);
  execution.timeout_ms = static_cast<uint64_t>(timeout_s) * 1000;
  return execution;
}

CodeBody read_code(ModelReader& reader) {
  Execution execution = read_execution(reader);
  return {std::move(execution), reader.string_or("language", "python")};
}

// The request's context and its sandbox.
struct Place {
  std::shared_ptr<HeldSandbox> sandbox;
  std::shared_ptr<InterpreterContext> context;
};

Task<Result<Place>> place_of(SandboxServices services, const HttpRequest& request) {
  BJ_CO_TRY(auto sandbox, co_await running_sandbox(services, request));
  BJ_CO_TRY(auto context, sandbox->live->interpreters().find(request.parameter("context_id")));
  co_return Place{std::move(sandbox), std::move(context)};
}

json::object result_json(ExecutionEvent event) {
  json::object out = representations_json(std::move(event.data));
  out["main"] = event.main;
  return out;
}

json::object end_of(const InterpreterContext& context, const ExecutionEnd& end) {
  return {{"context_id", context.id()},
          {"count", end.count},
          {"error", end.error ? json::value(execution_error_json(*end.error)) : json::value(nullptr)},
          {"timed_out", end.timed_out},
          {"restarted", end.restarted},
          {"duration_ms", end.duration_ms}};
}

Task<bool> send_event(EventStream& events, ExecutionEvent event) {
  switch (event.kind) {
    case ExecutionEventKind::kOutput:
      co_return co_await events.send("stdout", json::serialize(json::object{{"text", std::move(event.text)}}));
    case ExecutionEventKind::kErrorOutput:
      co_return co_await events.send("stderr", json::serialize(json::object{{"text", std::move(event.text)}}));
    case ExecutionEventKind::kResult:
      co_return co_await events.send("result", json::serialize(result_json(std::move(event))));
    case ExecutionEventKind::kError:
      co_return co_await events.send("error", json::serialize(execution_error_json(event.error)));
    case ExecutionEventKind::kSilence: co_return co_await events.heartbeat();
    case ExecutionEventKind::kCount: break;
  }
  co_return true;
}

// "start" is told with the first that happens, the code's beginning: an interrupt that follows it finds the code there.
struct ExecutionStream {
  const InterpreterContext& context;
  EventStream& events;
  bool begun = false;

  Task<bool> begin() {
    if (std::exchange(begun, true)) co_return true;
    const json::object start{{"context_id", context.id()}, {"language", name_of(context.language())}};
    co_return co_await events.send("start", json::serialize(start));
  }
  Task<bool> send(ExecutionEvent event) {
    if (!co_await begin()) co_return false;
    co_return co_await send_event(events, std::move(event));
  }
};

Task<void> stream(SandboxServices services, Actor actor, Place place, Execution execution, EventStream& events) {
  ExecutionStream stream{*place.context, events};
  const Result<ExecutionEnd> end =
      co_await services.code.run(std::move(actor), place.sandbox, place.context, std::move(execution),
                                 [&stream](ExecutionEvent event) { return stream.send(std::move(event)); });
  if (!co_await stream.begin()) co_return;
  if (end) {
    (void)co_await events.send("end", json::serialize(end_of(*place.context, *end)));
  } else {
    (void)co_await events.send("failed", json::serialize(json::object{{"detail", end.error().what}}));
  }
}

Task<Result<HttpResponse>> execute_in(SandboxServices services, HttpRequest& request, Place place,
                                      Execution execution) {
  if (request.headers.get("accept").find("text/event-stream") != std::string_view::npos) {
    auto work = std::make_shared<Execution>(std::move(execution));
    co_return event_stream([services, actor = request.actor, place, work](EventStream& events) {
      return stream(services, actor, place, std::move(*work), events);
    });
  }
  BJ_CO_TRY(CollectedExecution all, co_await services.code.collect(request.actor, place.sandbox, place.context,
                                                                   std::move(execution), services.limits.output_bytes));
  json::object out = end_of(*place.context, all.end);
  json::array results;
  for (ExecutionEvent& event : all.results) results.push_back(result_json(std::move(event)));
  out["results"] = std::move(results);
  out["results_dropped"] = all.results_dropped;
  out["stdout"] = all.output.text;
  out["stderr"] = all.error.text;
  out["stdout_dropped"] = all.output.dropped;
  out["stderr_dropped"] = all.error.dropped;
  co_return json_response(200, out);
}

Task<Result<HttpResponse>> create(SandboxServices services, HttpRequest& request) {
  BJ_CO_TRY(const auto sandbox, co_await running_sandbox(services, request));
  ContextBody body{"python", ""};
  if (!request.body.empty()) {
    BJ_CO_TRY(body, read_body(request, UnknownKeys::kForbid, read_context));
  }
  BJ_CO_TRY(const ContextLanguage language, context_language_of(body.language));
  BJ_CO_TRY(const auto context, co_await sandbox->live->interpreters().create(language, body.directory));
  co_return json_response(200, context_json(*context));
}

Task<Result<HttpResponse>> list(SandboxServices services, HttpRequest& request) {
  BJ_CO_TRY(const auto sandbox, co_await running_sandbox(services, request));
  json::array contexts;
  for (const auto& context : sandbox->live->interpreters().all()) contexts.push_back(context_json(*context));
  co_return json_response(200, contexts);
}

Task<Result<HttpResponse>> get(SandboxServices services, HttpRequest& request) {
  BJ_CO_TRY(const Place place, co_await place_of(services, request));
  co_return json_response(200, context_json(*place.context));
}

Task<Result<HttpResponse>> remove(SandboxServices services, HttpRequest& request) {
  BJ_CO_TRY(const Place place, co_await place_of(services, request));
  BJ_CO_CHECK(place.sandbox->live->interpreters().remove(place.context->id()));
  co_return empty_response();
}

Task<Result<HttpResponse>> restart(SandboxServices services, HttpRequest& request) {
  BJ_CO_TRY(const Place place, co_await place_of(services, request));
  BJ_CO_CHECK(co_await place.context->restart());
  co_return json_response(200, context_json(*place.context));
}

Task<Result<HttpResponse>> interrupt(SandboxServices services, HttpRequest& request) {
  BJ_CO_TRY(const Place place, co_await place_of(services, request));
  BJ_CO_CHECK(co_await place.context->interrupt());
  co_return empty_response();
}

Task<Result<HttpResponse>> execute(SandboxServices services, HttpRequest& request) {
  BJ_CO_TRY(Place place, co_await place_of(services, request));
  BJ_CO_TRY(Execution execution, read_body(request, UnknownKeys::kForbid, read_execution));
  co_return co_await execute_in(services, request, std::move(place), std::move(execution));
}

Task<Result<HttpResponse>> execute_usual(SandboxServices services, HttpRequest& request) {
  BJ_CO_TRY(const auto sandbox, co_await running_sandbox(services, request));
  BJ_CO_TRY(CodeBody body, read_body(request, UnknownKeys::kForbid, read_code));
  BJ_CO_TRY(const ContextLanguage language, context_language_of(body.language));
  Place place{sandbox, sandbox->live->interpreters().usual(language)};
  co_return co_await execute_in(services, request, std::move(place), std::move(body.execution));
}

Task<Result<HttpResponse>> checkpoint(SandboxServices services, HttpRequest& request) {
  BJ_CO_TRY(const Place place, co_await place_of(services, request));
  BJ_CO_TRY(const ContextCheckpoint made, co_await place.context->checkpoint());
  co_return json_response(200, checkpoint_json(made));
}

Task<Result<HttpResponse>> checkpoints(SandboxServices services, HttpRequest& request) {
  BJ_CO_TRY(const Place place, co_await place_of(services, request));
  json::array all;
  for (const ContextCheckpoint& one : place.context->checkpoints()) all.push_back(checkpoint_json(one));
  co_return json_response(200, all);
}

Task<Result<HttpResponse>> drop_checkpoint(SandboxServices services, HttpRequest& request) {
  BJ_CO_TRY(const Place place, co_await place_of(services, request));
  BJ_CO_CHECK(place.context->drop_checkpoint(request.parameter("checkpoint_id")));
  co_return empty_response();
}

std::string read_checkpoint(ModelReader& reader) { return reader.string("checkpoint_id", 1); }

Task<Result<HttpResponse>> roll_back(SandboxServices services, HttpRequest& request) {
  BJ_CO_TRY(const Place place, co_await place_of(services, request));
  BJ_CO_TRY(const std::string id, read_body(request, UnknownKeys::kForbid, read_checkpoint));
  BJ_CO_CHECK(co_await place.context->roll_back(id));
  co_return json_response(200, context_json(*place.context));
}

json::value body_of(json::object properties, json::array required) {
  return json::object{{"type", "object"}, {"required", std::move(required)}, {"properties", std::move(properties)}};
}

}  // namespace

void add_context_routes(Router& router, SandboxServices services) {
  const json::value object = json::object{{"type", "object"}};
  const json::value objects = json::object{{"type", "array"}, {"items", object}};
  const json::value text = json::object{{"type", "string"}};
  json::object code{{"code", text}, {"env", object}, {"timeout", {{"type", "integer"}}}};
  RouteGroup<SandboxServices> group(router, "/v1/sandboxes/{sandbox_id}/contexts", "sandbox contexts", services);
  group.add(Method::kPost, "", create, "Start an interpreter: python, javascript, typescript or bash",
            body_of({{"language", text}, {"cwd", text}}, {}), object);
  group.add(Method::kGet, "", list, "List contexts", nullptr, objects);
  group.add(Method::kGet, "/{context_id}", get, "Get a context", nullptr, object);
  group.add(Method::kDelete, "/{context_id}", remove, "End a context", nullptr, nullptr);
  group.add(Method::kPost, "/{context_id}/restart", restart, "Start a context anew, without its state", nullptr,
            object);
  group.add(Method::kPost, "/{context_id}/interrupt", interrupt, "Interrupt what a context executes", nullptr, nullptr);
  group.add(Method::kPost, "/{context_id}/execute", execute,
            "Execute code in a context: to its end, or as events (Accept: text/event-stream)", body_of(code, {"code"}),
            object);
  group.add(Method::kPost, "/{context_id}/checkpoints", checkpoint, "Keep a Python context's state", nullptr, object);
  group.add(Method::kGet, "/{context_id}/checkpoints", checkpoints, "List a context's checkpoints", nullptr, objects);
  group.add(Method::kDelete, "/{context_id}/checkpoints/{checkpoint_id}", drop_checkpoint, "Drop a checkpoint", nullptr,
            nullptr);
  group.add(Method::kPost, "/{context_id}/rollback", roll_back, "Bring a Python context back to a checkpoint",
            body_of({{"checkpoint_id", text}}, {"checkpoint_id"}), object);
  code["language"] = text;
  RouteGroup<SandboxServices> usual(router, "/v1/sandboxes/{sandbox_id}", "sandbox contexts", services);
  usual.add(Method::kPost, "/execute", execute_usual, "Execute code in the default context of a language",
            body_of(code, {"code"}), object);
}

}  // namespace bj::native
