#include "server/web_socket_session.h"

#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/websocket.hpp>

#include "base/change.h"
#include "base/log.h"
#include "base/turn.h"

namespace bj {

namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;

// What Beast asks of a stream that it has not seen before.
static void beast_close_socket(NetStream& stream) { stream.close(); }

template <class Handler>
static void async_teardown(beast::role_type, NetStream& stream, Handler&& handler) {
  boost::system::error_code error;
  (void)stream.socket().shutdown(Tcp::socket::shutdown_send, error);
  asio::post(stream.get_executor(), [error, handler = std::forward<Handler>(handler)]() mutable { handler(error); });
}

namespace {

class Session : public WebSocket {
 public:
  Session(NetStream& stream, const ServerLimits& limits)
      : executor_(stream.get_executor()), socket_(stream), writing_(executor_), left_(executor_) {
    websocket::stream_base::timeout times{};
    times.handshake_timeout = limits.header_time;
    times.idle_timeout = limits.heartbeat * 2;  // Beast pings at half of it
    times.keep_alive_pings = true;
    socket_.set_option(times);
    socket_.read_message_max(limits.web_socket_message_bytes);
  }

  Task<bool> accept(const HttpRequest& request) {
    http::request<http::empty_body> upgrade(http::verb::get, "/", 11);
    for (const auto& [name, value] : request.headers) upgrade.insert(name, value);
    socket_.set_option(websocket::stream_base::decorator([id = request.id](websocket::response_type& response) {
      response.set(http::field::server, "belljar");
      response.set("X-Request-Id", id);
    }));
    const auto [error] = co_await socket_.async_accept(upgrade, kNoThrow);
    accepted_ = !error;
    if (asked_to_leave_) leave();
    co_return accepted_;
  }

  Task<Result<WebSocketMessage>> read() override {
    beast::flat_buffer buffer;
    const auto [error, size] = co_await socket_.async_read(buffer, kNoThrow);
    if (error == websocket::error::message_too_big) co_return fail(Code::kExhausted, "the message is too long");
    if (error) co_return fail(Code::kUnavailable, "the WebSocket is closed");
    WebSocketMessage message;
    message.kind = socket_.got_text() ? WebSocketMessage::Kind::kText : WebSocketMessage::Kind::kBinary;
    message.data = beast::buffers_to_string(buffer.data());
    co_return message;
  }

  Task<bool> write(WebSocketMessage message) override {
    if (!co_await writing_.enter()) co_return false;
    socket_.text(message.kind == WebSocketMessage::Kind::kText);
    const auto [error, size] = co_await socket_.async_write(asio::buffer(message.data), kNoThrow);
    writing_.leave();
    co_return !error;
  }

  Task<bool> ping() override {
    if (!co_await writing_.enter()) co_return false;
    const auto [error] = co_await socket_.async_ping({}, kNoThrow);
    writing_.leave();
    co_return !error;
  }

  Task<void> close(uint16_t code, std::string reason) override {
    if (!socket_.is_open() || !co_await writing_.enter()) co_return;
    reason.resize(std::min<size_t>(reason.size(), 120));  // a control frame has 125 bytes
    if (socket_.is_open())
      co_await socket_.async_close(websocket::close_reason(static_cast<websocket::close_code>(code), reason), kNoThrow);
    writing_.leave();
  }

  // Closes while someone else reads or is about to; once there is a WebSocket, if it is still in the making.
  void leave() {
    asked_to_leave_ = true;
    if (!accepted_ || leaving_) return;
    leaving_ = true;
    asio::co_spawn(executor_, close(websocket::close_code::going_away, "the server stops"),
                   [this](const std::exception_ptr&) {
                     leaving_ = false;
                     left_.tell();
                   });
  }

  Task<void> wait_for_leaving() {
    while (leaving_) {
      co_await left_.wait();
    }
  }

 private:
  asio::any_io_executor executor_;
  websocket::stream<NetStream&, false> socket_;  // without compression, which nobody negotiates here
  Turn writing_;
  Change left_;
  bool accepted_ = false;
  bool asked_to_leave_ = false;
  bool leaving_ = false;
};

}  // namespace

Task<void> talk_web_socket(NetStream& stream, const HttpRequest& request, const ServerLimits& limits,
                           const std::function<Task<void>(WebSocket&)>& talk, std::function<void()>& leave) {
  Session session(stream, limits);
  leave = [&session] { session.leave(); };
  std::string what;
  try {
    if (co_await session.accept(request)) co_await talk(session);
  } catch (const std::exception& error) {
    what = error.what();
  }
  leave = nullptr;
  if (!what.empty())
    log_error("web_socket_threw", {{"request_id", request.id}, {"route", request.route}, {"what", what}});
  co_await session.close(what.empty() ? 1000 : 1011, what.empty() ? "" : "an unknown error occurred");
  co_await session.wait_for_leaving();
}

}  // namespace bj
