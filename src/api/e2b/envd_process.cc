// process.Process: started, connected to, listed, fed, signalled.
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <csignal>
#include <cstring>
#include <map>

#include "api/client_watch.h"
#include "api/e2b/envd.h"
#include "api/e2b/sandbox_json.h"
#include "base/utf8.h"
#include "control/sandbox_steps.h"
#include "store/crypto.h"

namespace bj::e2b {
namespace {

namespace json = boost::json;

constexpr auto kKeptAfterEnd = std::chrono::seconds(30);  // one that ended can be connected to for so long
constexpr auto kBurialTime = std::chrono::seconds(2);     // for one that was killed to be gone
constexpr int64_t kMostCells = 10'000;
constexpr std::chrono::milliseconds kLongestSilence = std::chrono::hours(1);  // of who types into a process

using Process = std::shared_ptr<LiveProcess>;

bool is_forgotten(const LiveProcess& process) {
  return process.over() && Clock::now() - (process.started() + process.duration()) > kKeptAfterEnd;
}

RpcResult<Process> selected(const EnvdCall& call) {
  const json::object* const selector = object_in(call.message, "process");
  if (selector == nullptr) return rpc_fail(RpcCode::kInvalidArgument, "no process was named");
  const ProcessTable& processes = call.sandbox->live->processes();
  const std::optional<int64_t> pid = number_in(*selector, "pid");
  const std::string tag = text_in(*selector, "tag");
  // An empty tag is none: it would be that of every process without one.
  if (!pid && tag.empty()) return rpc_fail(RpcCode::kInvalidArgument, "no process was named");
  Result<Process> found = pid ? processes.find(static_cast<int>(*pid)) : processes.find_by_tag(tag);
  if (!found) return rpc_fail(RpcCode::kNotFound, found.error().what);
  if (is_forgotten(**found))
    return rpc_fail(RpcCode::kNotFound, "process with pid " + std::to_string((*found)->pid()) + " not found");
  return *found;
}

RpcResult<Process> selected_running(const EnvdCall& call) {
  RpcResult<Process> process = selected(call);
  if (process && (*process)->over())
    return rpc_fail(RpcCode::kNotFound, "process with pid " + std::to_string((*process)->pid()) + " not found");
  return process;
}

std::string signal_text(int number) {
  const char* const name = ::sigdescr_np(number);
  std::string text = name == nullptr ? std::to_string(number) : name;
  if (!text.empty() && text[0] >= 'A' && text[0] <= 'Z') text[0] = static_cast<char>(text[0] - 'A' + 'a');
  return "signal: " + text;
}

json::object end_event(const LiveProcess& process) {
  const int status = process.exit()->status;
  json::object end;
  if (WIFSIGNALED(status)) {
    end = {{"exitCode", -1}, {"status", signal_text(WTERMSIG(status))}, {"error", signal_text(WTERMSIG(status))}};
  } else {
    const int code = WEXITSTATUS(status);
    const std::string text = "exit status " + std::to_string(code);
    end = {{"exited", true}, {"status", text}};
    if (code != 0) end["exitCode"] = code;
    if (code != 0) end["error"] = text;
  }
  return {{"event", json::object{{"end", std::move(end)}}}};
}

const char* name_of(OutputStream stream) {
  switch (stream) {
    case OutputStream::kOutput: return "stdout";
    case OutputStream::kError: return "stderr";
    case OutputStream::kTerminal: break;
  }
  return "pty";
}

// Ends the following, not the process, at the call's own deadline.
class Deadline {
 public:
  Deadline(const asio::any_io_executor& executor, std::optional<std::chrono::milliseconds> time,
           LiveProcess::Listener& listener)
      : timer_(executor), passed_(std::make_shared<bool>(false)) {
    if (!time) return;
    timer_.expires_after(*time);
    timer_.async_wait([passed = std::weak_ptr(passed_), &listener](const boost::system::error_code& error) {
      const auto flag = passed.lock();
      if (error || !flag) return;
      *flag = true;
      listener.stop();
    });
  }
  bool passed() const { return *passed_; }

 private:
  asio::steady_timer timer_;
  std::shared_ptr<bool> passed_;
};

RpcError too_late() { return {RpcCode::kDeadlineExceeded, "context deadline exceeded"}; }

Task<std::optional<RpcError>> follow(Process process, uint64_t from, std::optional<std::chrono::milliseconds> time,
                                     RpcStream& stream) {
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  LiveProcess::Listener listener(process, from);
  const Deadline deadline(executor, time, listener);
  const ClientWatch watch(executor, [&stream] { return stream.gone(); }, [&listener] { listener.stop(); });
  bool there = co_await stream.send({{"event", json::object{{"start", json::object{{"pid", process->pid()}}}}}});
  while (there) {
    const std::optional<OutputPiece> piece = co_await listener.next();
    if (!piece) break;
    const json::object data{{name_of(piece->stream), base64(piece->bytes)}};
    there = co_await stream.send({{"event", json::object{{"data", data}}}});
  }
  if (deadline.passed()) co_return too_late();
  if (!there || !process->over()) co_return std::nullopt;
  if (!process->exit()) {  // the sandbox is gone, and with it how this ended
    stream.abandon();
    co_return std::nullopt;
  }
  if (process->stopped_by() == "timeout") co_return too_late();
  stream.end_with(end_event(*process));
  co_return std::nullopt;
}

// "" for none given. The message is E2B's own.
Task<RpcResult<std::string>> directory_of(const EnvdCall& call, const json::object& config) {
  const std::string given = text_in(config, "cwd");
  if (given.empty()) co_return std::string();
  const RpcResult<std::string> path = path_in(call, given);
  if (!path) co_return path;
  const Result<Fd> there = co_await call.files().locate(*path, call.files().strongest_user(), LastLink::kFollow);
  struct stat status{};
  if (!there || ::fstat(there->get(), &status) != 0 || !S_ISDIR(status.st_mode))
    co_return rpc_fail(RpcCode::kInvalidArgument, "cwd '" + given + "' does not exist");
  co_return *path;
}

// What every process of the sandbox gets.
SandboxEnvironment shared_variables(const EnvdCall& call) {
  SandboxEnvironment variables = own_variables(call.sandbox->row);
  for (const auto& [name, value] : call.sandbox->live->environment()) variables[name] = value;
  return variables;
}

SandboxEnvironment variables_of(const EnvdCall& call, const json::object& config) {
  SandboxEnvironment variables = shared_variables(call);
  if (const json::object* const given = object_in(config, "envs")) {
    for (const auto& [name, value] : *given) {
      if (value.is_string()) variables[std::string(name)] = std::string(value.get_string());
    }
  }
  return variables;
}

uint16_t cells(const json::object& size, std::string_view name, uint16_t usual) {
  const std::optional<int64_t> given = number_in(size, name);
  return given && *given > 0 && *given <= kMostCells ? static_cast<uint16_t>(*given) : usual;
}

Task<RpcResult<CommandSpec>> spec_of(const EnvdCall& call) {
  const json::object* const config = object_in(call.message, "process");
  const std::string command = config == nullptr ? "" : text_in(*config, "cmd");
  if (command.empty()) co_return rpc_fail(RpcCode::kInvalidArgument, "no command was given");
  CommandSpec spec;
  spec.process.arguments = {command};
  if (const json::value* const given = config->if_contains("args"); given != nullptr && given->is_array()) {
    for (const json::value& argument : given->get_array()) {
      if (argument.is_string()) spec.process.arguments.emplace_back(argument.get_string());
    }
  }
  RpcResult<std::string> directory = co_await directory_of(call, *config);
  if (!directory) co_return tl::unexpected(directory.error());
  spec.process.directory = std::move(*directory);
  spec.process.environment = variables_of(call, *config);
  spec.process.user = call.user;
  spec.input = flag_in(call.message, "stdin", true) ? Input::kOpen : Input::kNone;
  spec.tag = text_in(call.message, "tag");
  if (const json::object* const terminal = object_in(call.message, "pty")) {
    spec.process.terminal = true;
    if (const json::object* const size = object_in(*terminal, "size")) {
      spec.process.rows = cells(*size, "rows", spec.process.rows);
      spec.process.columns = cells(*size, "cols", spec.process.columns);
    }
  }
  if (const auto time = rpc_timeout(call.request)) spec.timeout_ms = static_cast<uint64_t>(time->count());
  co_return spec;
}

Task<std::optional<RpcError>> start(const EnvdCall& call, RpcStream& stream) {
  RpcResult<CommandSpec> spec = co_await spec_of(call);
  if (!spec) co_return spec.error();
  const Actor owner = owner_of(call.sandbox->row);
  const Result<Process> process = co_await call.services.commands.start(owner, call.sandbox, std::move(*spec));
  if (!process) co_return rpc_error_of(process.error());
  co_return co_await follow(*process, 0, std::nullopt, stream);
}

Task<std::optional<RpcError>> connect(const EnvdCall& call, RpcStream& stream) {
  const RpcResult<Process> process = selected(call);
  if (!process) co_return process.error();
  co_return co_await follow(*process, (*process)->output().end(), rpc_timeout(call.request), stream);
}

// As it was asked for: without what every process gets.
json::object config_json(const ProcessSpec& spec, const SandboxEnvironment& shared) {
  json::array arguments;
  for (size_t i = 1; i < spec.arguments.size(); ++i) arguments.emplace_back(valid_utf8(spec.arguments[i]));
  json::object variables;
  for (const auto& [name, value] : spec.environment) {
    const auto common = shared.find(name);
    if (common == shared.end() || common->second != value) variables[valid_utf8(name)] = valid_utf8(value);
  }
  json::object config{
      {"cmd", valid_utf8(spec.arguments.front())}, {"args", std::move(arguments)}, {"envs", std::move(variables)}};
  if (!spec.directory.empty()) config["cwd"] = valid_utf8(spec.directory);
  return config;
}

Task<RpcResult<json::object>> list(const EnvdCall& call) {
  json::array processes;
  const SandboxEnvironment shared = shared_variables(call);
  for (const Process& process : call.sandbox->live->processes().all()) {
    if (process->over()) continue;
    json::object one{{"config", config_json(process->spec(), shared)}, {"pid", process->pid()}};
    if (!process->tag().empty()) one["tag"] = valid_utf8(process->tag());
    processes.push_back(std::move(one));
  }
  co_return json::object{{"processes", std::move(processes)}};
}

Task<RpcResult<json::object>> update(const EnvdCall& call) {
  const RpcResult<Process> process = selected_running(call);
  if (!process) co_return tl::unexpected(process.error());
  const json::object* const terminal = object_in(call.message, "pty");
  const json::object* const size = terminal == nullptr ? nullptr : object_in(*terminal, "size");
  if (size == nullptr) co_return json::object();
  const ProcessSpec& spec = (*process)->spec();
  const Result<void> done = (*process)->resize(cells(*size, "rows", spec.rows), cells(*size, "cols", spec.columns));
  if (!done) co_return rpc_fail(RpcCode::kFailedPrecondition, done.error().what);
  co_return json::object();
}

Task<RpcResult<json::object>> feed(Process process, const json::object* input) {
  if (input == nullptr) co_return rpc_fail(RpcCode::kInvalidArgument, "no input was given");
  const bool terminal = input->contains("pty");
  if (terminal != process->spec().terminal)
    co_return rpc_fail(RpcCode::kFailedPrecondition,
                       terminal ? "tty not assigned to process" : "stdin is not attached to a process with a tty");
  const std::optional<std::string> bytes = lenient_base64(text_in(*input, terminal ? "pty" : "stdin"));
  if (!bytes) co_return rpc_fail(RpcCode::kInvalidArgument, "the input is no base64");
  const Result<void> written = co_await process->write_input(*bytes);
  if (!written) co_return rpc_fail(RpcCode::kFailedPrecondition, written.error().what);
  co_return json::object();
}

Task<RpcResult<json::object>> send_input(const EnvdCall& call) {
  const RpcResult<Process> process = selected_running(call);
  if (!process) co_return tl::unexpected(process.error());
  co_return co_await feed(*process, object_in(call.message, "input"));
}

Task<RpcResult<json::object>> close_stdin(const EnvdCall& call) {
  const RpcResult<Process> process = selected_running(call);
  if (!process) co_return tl::unexpected(process.error());
  const Result<void> closed = (*process)->close_input();
  if (!closed) co_return rpc_fail(RpcCode::kFailedPrecondition, closed.error().what);
  co_return json::object();
}

// Who kills a process looks for it at once: it is gone when this is answered, unless it takes too long to die.
Task<void> wait_for_end(Process process) {
  asio::steady_timer limit(co_await asio::this_coro::executor, kBurialTime);
  const auto waiting = std::make_shared<asio::steady_timer*>(&limit);
  spawn(limit.get_executor(), [process, waiting]() -> Task<void> {
    co_await process->ended();
    if (*waiting != nullptr) (*waiting)->cancel();
  });
  if (!process->over()) (void)co_await expired(limit);
  *waiting = nullptr;
}

Task<RpcResult<json::object>> send_signal(const EnvdCall& call) {
  const RpcResult<Process> process = selected_running(call);
  if (!process) co_return tl::unexpected(process.error());
  const json::value* const given = call.message.if_contains("signal");
  const std::string name = text_in(call.message, "signal");
  const std::optional<int64_t> number = given == nullptr ? std::nullopt : number_in(call.message, "signal");
  const int signal = name == "SIGNAL_SIGKILL" || number == SIGKILL   ? SIGKILL
                     : name == "SIGNAL_SIGTERM" || number == SIGTERM ? SIGTERM
                                                                     : 0;
  if (signal == 0) co_return rpc_fail(RpcCode::kUnimplemented, "only SIGKILL and SIGTERM can be sent");
  const Result<void> sent = co_await call.sandbox->live->processes().signal((*process)->pid(), signal);
  if (!sent && sent.error().code != Code::kConflict) co_return tl::unexpected(rpc_error_of(sent.error()));
  if (signal == SIGKILL) co_await wait_for_end(*process);
  co_return json::object();
}

}  // namespace

UnaryCall process_call(std::string_view path) {
  static const std::map<std::string, UnaryCall, std::less<>> kCalls = {{"/process.Process/List", list},
                                                                       {"/process.Process/Update", update},
                                                                       {"/process.Process/SendInput", send_input},
                                                                       {"/process.Process/CloseStdin", close_stdin},
                                                                       {"/process.Process/SendSignal", send_signal}};
  const auto found = kCalls.find(path);
  return found == kCalls.end() ? nullptr : found->second;
}

StreamCall process_stream(std::string_view path) {
  return path == "/process.Process/Start" ? start : path == "/process.Process/Connect" ? connect : nullptr;
}

// The first message names the process, the others are what it is fed.
Task<RpcResult<json::object>> stream_input(const EnvdCall& call) {
  call.request.body_stream->allow_pauses(
      std::min(rpc_timeout(call.request).value_or(kLongestSilence), kLongestSilence));
  RpcEnvelopes messages(*call.request.body_stream);
  Process process;
  for (;;) {
    RpcResult<std::optional<json::object>> message = co_await messages.next();
    if (!message) co_return tl::unexpected(message.error());
    if (!*message) co_return json::object();
    if (const json::object* const first = object_in(**message, "start")) {
      EnvdCall named = call;
      named.message = *first;
      const RpcResult<Process> found = selected_running(named);
      if (!found) co_return tl::unexpected(found.error());
      process = *found;
    } else if (const json::object* const data = object_in(**message, "data")) {
      if (!process) co_return rpc_fail(RpcCode::kInvalidArgument, "the first message must name the process");
      const RpcResult<json::object> fed = co_await feed(process, object_in(*data, "input"));
      if (!fed) co_return fed;
    }
  }
}

}  // namespace bj::e2b
