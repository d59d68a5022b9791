// POST /v1/tools/{tool_id}/run: one answer, or server-sent events (Accept: text/event-stream) with the output as it
// comes.
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <deque>

#include "api/handler.h"
#include "api/native/routes.h"
#include "api/route_group.h"
#include "base/change.h"
#include "base/character_cutter.h"
#include "base/id.h"
#include "tools/argument_check.h"
#include "tools/network_receipts.h"
#include "tools/stored_json.h"

namespace bj::native {
namespace {

namespace json = boost::json;

struct RunBody {
  json::object args;
  std::map<std::string, std::string> variables;
  std::optional<std::string> agent_id;
  json::object network;  // what of "network" and "credentials" is there
};

RunBody read_run(ModelReader& reader) {
  RunBody body;
  body.args = reader.object_or_empty("args");
  body.variables = reader.optional_string_map("env_vars").value_or(std::map<std::string, std::string>());
  body.agent_id = reader.optional_string("agent_id");
  for (const char* const key : {"network", "credentials"}) {
    if (const json::value* const value = reader.take(key)) body.network[key] = *value;
  }
  return body;
}

json::object outcome_json(const RunOutcome& outcome) {
  json::object object{{"call_id", outcome.call_id},
                      {"status", status_name(outcome.status)},
                      {"return", outcome.success ? outcome.value : json::value(nullptr)},
                      {"error", nullptr},
                      {"stdout", outcome.output.empty() ? "" : outcome.output.front()},
                      {"stderr", outcome.error_output.empty() ? "" : outcome.error_output.front()},
                      {"duration_ms", outcome.duration_ms},
                      {"limits_hit", json::array(outcome.limits_hit.begin(), outcome.limits_hit.end())},
                      {"provider", outcome.provider},
                      {"network", network_json(outcome)},
                      {"seal_full", outcome.seal ? json::value(outcome.seal->full()) : json::value(nullptr)}};
  if (!outcome.success) {
    object["error"] = {
        {"name", outcome.error.name}, {"message", outcome.error.message}, {"traceback", outcome.error.traceback}};
  }
  return object;
}

// What happens in a run, waiting to be sent. The run pushes, the stream takes.
struct Feed {
  explicit Feed(const asio::any_io_executor& executor) : changed(executor) {}

  void push(std::string event, const json::value& data) {
    events.emplace_back(std::move(event), json::serialize(data));
    changed.tell();
  }

  // Pieces of output are cut anywhere, also within a character.
  void push_output(bool is_stderr, const std::string& text) {
    if (!text.empty()) push(is_stderr ? "stderr" : "stdout", json::string(text));
  }

  std::array<CharacterCutter, 2> cutters;  // of stdout and stderr
  std::deque<std::pair<std::string, std::string>> events;
  bool over = false;
  Change changed;
};

CallHooks hooks_into(const std::shared_ptr<Feed>& feed) {
  CallHooks hooks;
  hooks.on_output = [feed](bool is_stderr, std::string_view piece) {
    feed->push_output(is_stderr, feed->cutters[is_stderr ? 1 : 0].feed(piece));
  };
  hooks.on_progress = [feed](const BuildProgress& step) {
    feed->push("progress", {{"phase", phase_name(step.phase)}, {"message", step.message}});
  };
  hooks.on_network = [feed](const GateEvent& event) { feed->push("network", gate_event_json(event)); };
  return hooks;
}

Task<void> run_into(std::shared_ptr<Feed> feed, ToolRunner& runner, RunRequest run) {
  const Result<RunOutcome> outcome = co_await runner.run(std::move(run));
  for (const bool is_stderr : {false, true}) feed->push_output(is_stderr, feed->cutters[is_stderr ? 1 : 0].rest());
  if (outcome) {
    feed->push("result", outcome_json(*outcome));
  } else {
    feed->push("error", {{"detail", outcome.error().what}});
  }
  feed->over = true;
  feed->changed.tell();
}

// A client that leaves does not end the run, which its limits bound; what is left to tell is told to nobody.
Task<void> stream_run(ToolRunner& runner, RunRequest run, EventStream& events) {
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  auto feed = std::make_shared<Feed>(executor);
  run.hooks = hooks_into(feed);
  spawn(executor, [feed, &runner, run = std::move(run)] { return run_into(feed, runner, run); });
  while (!feed->over || !feed->events.empty()) {
    if (feed->events.empty()) {
      co_await feed->changed.wait();
      continue;
    }
    auto [event, data] = std::move(feed->events.front());
    feed->events.pop_front();
    (void)co_await events.send(std::move(event), std::move(data));
  }
}

Task<Result<HttpResponse>> run_tool(Services services, HttpRequest& request) {
  BJ_CO_TRY(const std::string id, id_of(request, "tool_id", "tool"));
  RunBody body;
  if (!request.body.empty()) {
    BJ_CO_TRY(body, read_body(request, UnknownKeys::kForbid, read_run));
  }
  if (body.agent_id && !is_id("agent", *body.agent_id))
    co_return fail(Code::kUnprocessable, "agent_id must be agent-<uuid4>");
  BJ_CO_CHECK(check_network_wish(body.network, "call"));
  const auto find = [&] { return services.store.tools().get(request.actor.organization, id); };
  auto run = std::make_shared<RunRequest>();
  BJ_CO_TRY(run->tool, co_await offload(services.threads, find));
  BJ_CO_CHECK(check_tool_arguments(run->tool, body.args));
  run->actor = request.actor;
  run->agent_id = std::move(body.agent_id);
  run->arguments = std::move(body.args);
  run->variables = std::move(body.variables);
  BJ_CO_TRY(run->network, read_network_wish(body.network, "call"));
  if (request.headers.get("accept").find("text/event-stream") != std::string_view::npos) {
    co_return event_stream(
        [&runner = services.runner, run](EventStream& events) { return stream_run(runner, std::move(*run), events); });
  }
  BJ_CO_TRY(const RunOutcome outcome, co_await services.runner.run(std::move(*run)));
  co_return json_response(200, outcome_json(outcome));
}

}  // namespace

void add_run_routes(Router& router, Services services) {
  RouteGroup<Services> runs(router, "/v1/tools", "runs", services);
  const json::value object = json::object{{"type", "object"}};
  const json::value body = json::object{{"type", "object"},
                                        {"properties",
                                         {{"args", object},
                                          {"env_vars", object},
                                          {"agent_id", {{"type", "string"}}},
                                          {"network", object},
                                          {"credentials", {{"type", "array"}, {"items", {{"type", "string"}}}}}}}};
  runs.add(Method::kPost, "/{tool_id}/run", run_tool,
           "Run a stored tool; with Accept: text/event-stream its output comes as events", body, object,
           {.work = Work::kRun});
}

void add_routes(Router& router, Services services) {
  add_run_routes(router, services);
  add_call_routes(router, services);
  add_audit_routes(router, services);
  add_network_policy_routes(router, services);
  add_credential_routes(router, services);
}

}  // namespace bj::native
