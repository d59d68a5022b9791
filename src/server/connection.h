// One client's connection: requests in turn, until it ends, errs, is too slow, or the server stops.
//
// Timing: whoever owns connections calls check_deadline() now and then, instead of a timer being set and cancelled
// several times a request. So deadlines are as exact as the calls are frequent.
//
// Internal to the server; stays on its thread. The owner keeps it until run() has ended.
#pragma once

#include <boost/asio/cancellation_signal.hpp>
#include <compare>
#include <functional>
#include <optional>

#include "server/dispatcher.h"
#include "server/input_buffer.h"
#include "server/net_stream.h"
#include "server/request_parser.h"
#include "server/response_text.h"

namespace bj {

class Connection {
 public:
  // `tls` is null for plain HTTP. The referenced outlive it.
  Connection(Tcp::socket socket, asio::ssl::context* tls, const ServerLimits& limits, Dispatcher& dispatcher);

  Task<void> run();
  void check_deadline(Clock::time_point now);
  // Ends it at once if it is idle, else after the request in flight. WebSockets are told to go away.
  void begin_stop();
  // Ends it now: its socket is closed and what it waits for is cancelled, until run() returns.
  void end();
  asio::cancellation_slot slot() { return cancellation_.slot(); }

  // While it waits for a request, or for the rest of one's header: then it can be ended to make room. The first to go
  // is one that never got an answer but refusals, and of those who waits longest.
  struct Waiting {
    bool was_served = false;
    Clock::time_point since;
    auto operator<=>(const Waiting&) const = default;
  };
  std::optional<Waiting> waiting() const { return stopping_ ? std::nullopt : waiting_; }

 private:
  class Body;
  class OpenTunnel;
  enum class Stopped { kNo, kClosed, kSlow, kFull };  // why there are no more bytes

  Task<bool> serve_one();
  Task<ParseFailure> read_header(RequestParser& parser);
  Task<bool> answer(HttpRequest& request, RequestParser& parser, Body& body, Clock::time_point began);
  Task<bool> send_response(const HttpRequest& request, HttpResponse& response, Ending ending);
  Task<bool> send_stream(const HttpRequest& request, RequestParser& parser, HttpResponse& response, Ending ending);
  Task<void> pass_through(const HttpRequest& request, HttpResponse& response);
  void reset();
  Task<void> refuse(HttpRequest& request, const ParseFailure& failure);
  Task<bool> fill();
  Task<bool> send(std::string_view first, std::string_view second);
  Task<bool> handshake();
  Task<void> shut();

  void arm(Clock::duration time) { deadline_ = Clock::now() + time; }
  void disarm() { deadline_ = Clock::time_point::max(); }

  NetStream stream_;
  const ServerLimits& limits_;
  Dispatcher& dispatcher_;
  InputBuffer input_;
  asio::cancellation_signal cancellation_;
  std::string peer_, local_;
  Clock::time_point deadline_ = Clock::time_point::max();
  Stopped stopped_ = Stopped::kNo;
  bool expired_ = false;
  bool busy_ = false;
  bool stopping_ = false;
  bool was_served_ = false;
  std::optional<Waiting> waiting_ = Waiting{false, Clock::now()};
  uint64_t sent_ = 0;                       // bytes of the current response
  std::function<void()> leave_web_socket_;  // while there is one
};

}  // namespace bj
