#include "cli/terminal_client.h"

#include <poll.h>
#include <unistd.h>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "cli/terminal.h"
#include "cli/web_socket_client.h"
#include "sys/bytes.h"
#include "sys/files.h"
#include "sys/wait.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr int kLookMs = 250;  // at the window's size

class Joined {
 public:
  explicit Joined(WebSocketClient socket) : socket_(std::move(socket)) {}

  Result<int> run() {
    while (!status_) {
      BJ_CHECK(follow_size());
      pollfd fds[2] = {{input_open_ ? STDIN_FILENO : -1, POLLIN, 0}, {socket_.fd(), POLLIN, 0}};
      BJ_CHECK(wait_for_events(fds, kLookMs));
      if (fds[0].revents != 0) BJ_CHECK(pass_input());
      if (fds[1].revents != 0) BJ_CHECK(pass_output());
    }
    return *status_;
  }

 private:
  Result<void> follow_size() {
    const WindowSize now = window_size(STDIN_FILENO);
    if (now.rows == size_.rows && now.columns == size_.columns) return {};
    size_ = now;
    return socket_.send(FrameKind::kText, json::serialize(json::object{{"rows", now.rows}, {"columns", now.columns}}));
  }

  Result<void> pass_input() {
    char bytes[4096];
    const Moved read = read_some(STDIN_FILENO, bytes, sizeof bytes);
    if (read.size > 0) return socket_.send(FrameKind::kBinary, {bytes, read.size});
    input_open_ = false;
    return socket_.send(FrameKind::kBinary, "\x04");  // a terminal's end of input
  }

  Result<void> pass_output() {
    BJ_CHECK(socket_.fill());
    for (;;) {
      BJ_TRY(const std::optional<SocketFrame> frame, socket_.next());
      if (!frame) return {};
      if (frame->kind == FrameKind::kClose) {
        if (!status_) status_ = 1;
        return {};
      }
      if (frame->kind == FrameKind::kText) note(frame->data);
      // The shell owns this terminal while it is joined, as over ssh.
      if (frame->kind == FrameKind::kBinary) (void)write_all(STDOUT_FILENO, frame->data, "stdout");
    }
  }

  void note(const std::string& text) {
    json::error_code bad;
    const json::value value = json::parse(text, bad);
    const json::value* const status =
        !bad && value.is_object() ? value.get_object().if_contains("exit_status") : nullptr;
    if (status != nullptr && status->is_int64()) status_ = static_cast<int>(status->get_int64());
  }

  WebSocketClient socket_;
  WindowSize size_{0, 0};
  bool input_open_ = true;
  std::optional<int> status_;
};

}  // namespace

Result<int> join_terminal(const ServerClient& server, const std::string& path) {
  BJ_TRY(WebSocketClient socket, WebSocketClient::connect(server.url(), path, server.key().reveal()));
  const Result<RawTerminal> raw = RawTerminal::enter(STDIN_FILENO, RawMode::kAll);
  return Joined(std::move(socket)).run();
}

}  // namespace bj
