// /v1/sandboxes/{sandbox_id}/commands: run to the end, streamed, in the background; attached to, fed, signalled,
// listed.
#include <boost/json/array.hpp>
#include <charconv>
#include <csignal>
#include <map>

#include "api/handler.h"
#include "api/native/output_events.h"
#include "api/native/sandbox_json.h"
#include "api/native/sandbox_routes.h"
#include "api/route_group.h"

namespace bj::native {
namespace {

namespace json = boost::json;

constexpr int64_t kUsualTimeoutS = 60;
constexpr int64_t kLongestTimeoutS = 24 * 3600;

struct CommandBody {
  CommandSpec spec;
  std::optional<std::string> input;  // written to it, then closed
  std::optional<int64_t> timeout_s;
  bool background = false;
};

// A text is for the shell; a list is a program and its arguments.
std::vector<std::string> read_arguments(ModelReader& reader) {
  const json::value* const given = reader.required("command");
  if (given == nullptr) return {};
  if (given->is_string()) return {"/bin/sh", "-c", std::string(given->get_string())};
  std::vector<std::string> arguments;
  bool sound = given->is_array() && !given->get_array().empty();
  if (sound) {
    for (const json::value& item : given->get_array()) {
      sound = sound && item.is_string();
      if (sound) arguments.emplace_back(item.get_string());
    }
  }
  if (!sound) reader.wrong("command", {"command_type", "Input should be a text, or a list of texts"}, *given);
  return arguments;
}

CommandBody read_command(ModelReader& reader) {
  CommandBody body;
  ProcessSpec& process = body.spec.process;
  process.arguments = read_arguments(reader);
  process.environment = reader.optional_string_map("env").value_or(SandboxEnvironment());
  process.directory = reader.optional_string("cwd").value_or("");
  process.user = reader.optional_string("user").value_or("");
  body.timeout_s = reader.optional_integer("timeout", {0, kLongestTimeoutS});
  body.input = reader.optional_string("stdin");
  const bool keep_input = reader.boolean_or("keep_stdin", false);
  body.spec.input = body.input || keep_input ? Input::kOpen : Input::kNone;
  body.spec.tag = reader.optional_string("tag").value_or("");
  body.background = reader.boolean_or("background", false);
  return body;
}

// A process that does not read must not hold up the answer: it is fed beside it.
void feed(const asio::any_io_executor& executor, const std::shared_ptr<LiveProcess>& process, std::string input) {
  spawn(executor, [process, input = std::move(input)]() -> Task<void> {
    if (!input.empty()) (void)co_await process->write_input(input);
    (void)process->close_input();
  });
}

Task<Result<HttpResponse>> run(SandboxServices services, HttpRequest& request) {
  BJ_CO_TRY(const auto sandbox, co_await running_sandbox(services, request));
  BJ_CO_TRY(CommandBody body, read_body(request, UnknownKeys::kForbid, read_command));
  const int64_t usual = body.background ? 0 : kUsualTimeoutS;
  body.spec.timeout_ms = static_cast<uint64_t>(body.timeout_s.value_or(usual)) * 1000;
  BJ_CO_TRY(const auto process, co_await services.commands.start(request.actor, sandbox, std::move(body.spec)));
  if (body.input) feed(co_await asio::this_coro::executor, process, std::move(*body.input));
  if (body.background) co_return json_response(200, process_json(*process));
  if (request.headers.get("accept").find("text/event-stream") != std::string_view::npos) {
    co_return event_stream([process](EventStream& events) { return send_output(process, 0, events); });
  }
  const CommandResult result = co_await CommandRunner::collect(process, services.limits.output_bytes);
  co_return json_response(200, command_json(process->pid(), result));
}

Task<Result<HttpResponse>> list(SandboxServices services, HttpRequest& request) {
  BJ_CO_TRY(const auto sandbox, co_await running_sandbox(services, request));
  json::array processes;
  for (const auto& process : sandbox->live->processes().all()) processes.push_back(process_json(*process));
  co_return json_response(200, processes);
}

// By pid, or by the tag that its caller gave it.
Task<Result<std::shared_ptr<LiveProcess>>> process_of(SandboxServices services, const HttpRequest& request) {
  BJ_CO_TRY(const auto sandbox, co_await running_sandbox(services, request));
  const std::string& name = request.parameter("pid");
  int pid = 0;
  const auto [end, bad] = std::from_chars(name.data(), name.data() + name.size(), pid);
  if (bad == std::errc() && end == name.data() + name.size()) co_return sandbox->live->processes().find(pid);
  co_return sandbox->live->processes().find_by_tag(name);
}

Task<Result<HttpResponse>> get(SandboxServices services, HttpRequest& request) {
  BJ_CO_TRY(const auto process, co_await process_of(services, request));
  co_return json_response(200, process_json(*process));
}

Result<uint64_t> place_of(const HttpRequest& request, const LiveProcess& process) {
  const MaybeText text = query_text(request, "from");
  if (!text) return 0;
  if (*text == "end") return process.output().end();
  uint64_t place = 0;
  const auto [end, bad] = std::from_chars(text->data(), text->data() + text->size(), place);
  if (bad != std::errc() || end != text->data() + text->size())
    return fail(Code::kUnprocessable, "\"from\" must be an offset of the output, or end");
  return place;
}

Task<Result<HttpResponse>> attach(SandboxServices services, HttpRequest& request) {
  BJ_CO_TRY(const auto process, co_await process_of(services, request));
  BJ_CO_TRY(const uint64_t from, place_of(request, *process));
  co_return event_stream([process, from](EventStream& events) { return send_output(process, from, events); });
}

Task<Result<HttpResponse>> write_input(SandboxServices services, HttpRequest& request) {
  BJ_CO_TRY(const auto process, co_await process_of(services, request));
  BJ_CO_TRY(const bool close, query_flag(request, "close"));
  if (!request.body.empty()) BJ_CO_CHECK(co_await process->write_input(request.body));
  if (close) BJ_CO_CHECK(process->close_input());
  co_return empty_response();
}

struct Signal {
  int number = 0;
};

Signal read_signal(ModelReader& reader) {
  static const std::map<std::string, int> kSignals = {
      {"SIGHUP", SIGHUP},   {"SIGINT", SIGINT},   {"SIGQUIT", SIGQUIT}, {"SIGKILL", SIGKILL}, {"SIGUSR1", SIGUSR1},
      {"SIGUSR2", SIGUSR2}, {"SIGTERM", SIGTERM}, {"SIGSTOP", SIGSTOP}, {"SIGCONT", SIGCONT}, {"SIGWINCH", SIGWINCH}};
  std::vector<std::string> names;
  for (const auto& [name, number] : kSignals) names.push_back(name);
  const std::string name = reader.choice_or("signal", "SIGTERM", names);
  const auto found = kSignals.find(name);
  return {found == kSignals.end() ? SIGTERM : found->second};
}

Task<Result<HttpResponse>> send_signal(SandboxServices services, HttpRequest& request) {
  BJ_CO_TRY(const auto process, co_await process_of(services, request));
  BJ_CO_TRY(const auto sandbox, co_await running_sandbox(services, request));
  BJ_CO_TRY(const Signal signal, read_body(request, UnknownKeys::kForbid, read_signal));
  BJ_CO_CHECK(co_await sandbox->live->processes().signal(process->pid(), signal.number));
  co_return empty_response();
}

}  // namespace

void add_command_routes(Router& router, SandboxServices services) {
  RouteGroup<SandboxServices> group(router, "/v1/sandboxes/{sandbox_id}/commands", "sandbox commands", services);
  const json::value object = json::object{{"type", "object"}};
  const json::value text = json::object{{"type", "string"}};
  const json::value truth = json::object{{"type", "boolean"}};
  const json::value body = json::object{{"type", "object"},
                                        {"required", {"command"}},
                                        {"properties",
                                         {{"command", json::object()},
                                          {"env", object},
                                          {"cwd", text},
                                          {"user", text},
                                          {"timeout", {{"type", "integer"}}},
                                          {"stdin", text},
                                          {"keep_stdin", truth},
                                          {"tag", text},
                                          {"background", truth}}}};
  group.add(Method::kPost, "", run,
            "Run a command: to its end, as events (Accept: text/event-stream), or in the background", body, object);
  group.add(Method::kGet, "", list, "List commands that run, and those that ended last", nullptr,
            json::object{{"type", "array"}, {"items", object}});
  group.add(Method::kGet, "/{pid}", get, "Get a command by its pid or tag", nullptr, object);
  group.add(Method::kGet, "/{pid}/output", attach, "A command's output as events: what is kept of it, and what comes",
            nullptr, object);
  group.add(Method::kPost, "/{pid}/stdin", write_input, "Write to a command's input; ?close=true ends it", object,
            nullptr);
  group.add(Method::kPost, "/{pid}/signal", send_signal, "Send a command a signal",
            json::object{{"type", "object"}, {"properties", {{"signal", text}}}}, nullptr);
}

}  // namespace bj::native
