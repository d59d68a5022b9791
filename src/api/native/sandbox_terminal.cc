// GET /v1/sandboxes/{sandbox_id}/terminal: a WebSocket with a terminal inside. Binary messages are its bytes, both
// ways. Text messages are JSON: {"rows": 40, "columns": 120} from the client; {"pid": ...} at the beginning and how the
// process ended, at the end, to him. A process whose client leaves goes on: ?pid= comes back to it.
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>

#include "api/handler.h"
#include "api/native/sandbox_json.h"
#include "api/native/sandbox_routes.h"

namespace bj::native {
namespace {

namespace json = boost::json;

constexpr uint16_t kMostCells = 1000;
constexpr int kHighestPid = 1 << 22;  // of Linux

template <class T>
Result<T> number_of(const HttpRequest& request, std::string_view name, T usual, T most) {
  const MaybeText text = query_text(request, name);
  if (!text) return usual;
  T value = 0;
  const auto [end, bad] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (bad != std::errc() || end != text->data() + text->size() || value < 1 || value > most)
    return fail(Code::kUnprocessable, std::string(name) + " must be a number from 1 to " + std::to_string(most));
  return value;
}

Task<Result<std::shared_ptr<LiveProcess>>> terminal_of(SandboxServices services, const HttpRequest& request,
                                                       std::shared_ptr<HeldSandbox> sandbox) {
  if (request.query.find("pid") != nullptr) {
    BJ_CO_TRY(const int pid, number_of(request, "pid", 0, kHighestPid));
    BJ_CO_TRY(auto process, sandbox->live->processes().find(pid));
    if (!process->spec().terminal) co_return fail(Code::kConflict, "the process has no terminal");
    co_return process;
  }
  CommandSpec spec;
  spec.process.terminal = true;
  BJ_CO_TRY(spec.process.rows, number_of<uint16_t>(request, "rows", 24, kMostCells));
  BJ_CO_TRY(spec.process.columns, number_of<uint16_t>(request, "columns", 80, kMostCells));
  spec.process.directory = query_text(request, "cwd").value_or("");
  spec.process.user = query_text(request, "user").value_or("");
  const MaybeText command = query_text(request, "command");
  if (command) {
    spec.process.arguments = {"/bin/sh", "-c", *command};
  } else {
    spec.process.arguments = {"/bin/sh", "-c",
                              "if [ -x /bin/bash ]; then exec /bin/bash -il; else exec /bin/sh -il; fi"};
  }
  co_return co_await services.commands.start(request.actor, std::move(sandbox), std::move(spec));
}

// {"rows": 40, "columns": 120}; anything else is none of a terminal's business.
void resize(LiveProcess& process, const std::string& text) {
  json::error_code bad;
  const json::value value = json::parse(text, bad);
  if (bad || !value.is_object()) return;
  const auto cells = [&value](const char* name) -> uint16_t {
    const json::value* const found = value.get_object().if_contains(name);
    if (found == nullptr || !found->is_int64()) return 0;
    return found->get_int64() > 0 && found->get_int64() <= kMostCells ? static_cast<uint16_t>(found->get_int64()) : 0;
  };
  if (cells("rows") != 0 && cells("columns") != 0) (void)process.resize(cells("rows"), cells("columns"));
}

// What was typed and not read yet. Beside the socket, so that a process that does not read holds up nothing.
struct Typed {
  std::string waiting;
  bool feeding = false;
};

// False: it types more than anybody will read.
bool type(const asio::any_io_executor& executor, const std::shared_ptr<LiveProcess>& process,
          const std::shared_ptr<Typed>& typed, const std::string& bytes) {
  constexpr size_t kMostWaiting = 4 << 20;
  if (typed->waiting.size() + bytes.size() > kMostWaiting) return false;
  typed->waiting += bytes;
  if (std::exchange(typed->feeding, true)) return true;
  spawn(executor, [process, typed]() -> Task<void> {
    while (!typed->waiting.empty() && co_await process->write_input(std::exchange(typed->waiting, {}))) {
    }
    typed->feeding = false;
  });
  return true;
}

Task<void> send_output(LiveProcess::Listener& listener, WebSocket& socket) {
  using Kind = WebSocketMessage::Kind;
  const LiveProcess& process = listener.process();
  bool there = co_await socket.write({Kind::kText, json::serialize(json::object{{"pid", process.pid()}})});
  while (there) {
    std::optional<OutputPiece> piece = co_await listener.next();
    if (!piece) break;
    there = co_await socket.write({Kind::kBinary, std::move(piece->bytes)});
  }
  if (there && process.over())
    (void)co_await socket.write({Kind::kText, json::serialize(end_json(CommandRunner::result_of(process)))});
  co_await socket.close(1000, "");
}

// Reads here and writes beside it; both have ended when it returns.
Task<void> talk(std::shared_ptr<LiveProcess> process, WebSocket& socket) {
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  LiveProcess::Listener listener(process, 0);
  const auto typed = std::make_shared<Typed>();
  const auto written = std::make_shared<OneShot<bool>>(executor);
  spawn(executor, [&listener, &socket, written]() -> Task<void> {
    co_await send_output(listener, socket);
    written->set(true);
  });
  while (const Result<WebSocketMessage> message = co_await socket.read()) {
    if (message->kind == WebSocketMessage::Kind::kText) {
      resize(*process, message->data);
    } else if (!type(executor, process, typed, message->data)) {
      break;
    }
  }
  listener.stop();
  (void)co_await written->get();
}

Task<Result<HttpResponse>> open(SandboxServices services, HttpRequest& request) {
  BJ_CO_TRY(const auto sandbox, co_await running_sandbox(services, request));
  BJ_CO_TRY(const auto process, co_await terminal_of(services, request, sandbox));
  co_return web_socket([process](WebSocket& socket) { return talk(process, socket); });
}

}  // namespace

void add_terminal_route(Router& router, SandboxServices services) {
  RouteOptions options;
  options.access = Access::kMember;  // it is a GET by form only
  options.kind = RouteKind::kWebSocket;
  options.doc.tag = "sandbox commands";
  options.doc.summary = "A terminal inside, over a WebSocket; ?pid= comes back to one that is open";
  for (const char* name : {"rows", "columns", "command", "cwd", "user", "pid"}) {
    ParameterDoc doc;
    doc.name = name;
    options.doc.parameters.push_back(doc);
  }
  router.add(Method::kGet, "/v1/sandboxes/{sandbox_id}/terminal",
             answering([services](HttpRequest& request) { return open(services, request); }), std::move(options));
}

}  // namespace bj::native
