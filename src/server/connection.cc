#include "server/connection.h"

#include <fmt/format.h>

#include <array>

#include "base/log.h"
#include "server/stream_writer.h"
#include "server/web_socket_session.h"

namespace bj {
namespace {

constexpr uint64_t kSlowestRate = 8 * 1024;              // bytes a second that a long body must move at, either way
constexpr size_t kInputBeyondHeader = 16 * 1024;         // a chunk's own header must fit too
constexpr uint64_t kMostDiscarded = 1 << 20;             // of what a refused client still sends
constexpr auto kFarewellTime = std::chrono::seconds(2);  // for TLS's goodbye, and for discarding

// When a body that has moved so many bytes must have moved further: it may neither pause for longer than `pause` nor
// be slower than the slowest rate in all.
Clock::time_point due(Clock::time_point began, Clock::duration pause, uint64_t bytes) {
  return std::min(Clock::now() + pause, began + pause + std::chrono::milliseconds(bytes * 1000 / kSlowestRate));
}

std::string address_text(const Tcp::endpoint& endpoint) {
  asio::ip::address address = endpoint.address();
  if (address.is_v6() && address.to_v6().is_v4_mapped())
    address = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
  return address.to_string();
}

}  // namespace

// The body of the current request, read from the connection when asked for.
class Connection::Body : public BodyReader {
 public:
  Body(Connection& connection, RequestParser& parser)
      : connection_(connection), parser_(parser), owes_continue_(parser.expects_continue()) {}

  std::optional<uint64_t> length() const override { return parser_.length(); }
  void allow_pauses(std::chrono::milliseconds longest) override { longest_pause_ = longest; }

  Task<Result<std::string>> read() override {
    for (;;) {
      BJ_CO_TRY(std::string piece, take());
      if (!piece.empty() || parser_.done()) co_return piece;
      if (std::exchange(owes_continue_, false)) {
        if (!co_await connection_.send("HTTP/1.1 100 Continue\r\n\r\n", {}))
          co_return fail(Code::kUnavailable, "The client is gone");
      }
      connection_.deadline_ =
          longest_pause_ ? Clock::now() + *longest_pause_ : due(began_, connection_.limits_.body_time, taken_);
      const bool more = co_await connection_.fill();
      connection_.disarm();
      if (!more) co_return failure();
    }
  }

  // Whether the body has arrived, so that another request can follow on this connection.
  bool is_complete() {
    while (!parser_.done() && !connection_.input_.empty()) {
      const Result<std::string> piece = take();
      if (!piece || piece->empty()) break;
    }
    return parser_.done();
  }

 private:
  Result<std::string> take() {
    if (parser_.done()) return std::string();
    const auto taken = parser_.feed(connection_.input_.view());
    if (!taken) return fail(Code::kInvalid, taken.error().sentence);
    connection_.input_.consume(*taken);
    taken_ += *taken;
    return parser_.take_body();
  }
  Result<std::string> failure() const {
    if (connection_.stopped_ == Stopped::kFull) return fail(Code::kInvalid, "A chunk's header is too long");
    if (connection_.stopped_ == Stopped::kSlow) return fail(Code::kUnavailable, "The body arrives too slowly");
    return fail(Code::kInvalid, "The body ends too early");
  }

  Connection& connection_;
  RequestParser& parser_;
  bool owes_continue_;
  Clock::time_point began_ = Clock::now();
  uint64_t taken_ = 0;
  std::optional<std::chrono::milliseconds> longest_pause_;
};

class Connection::OpenTunnel : public Tunnel {
 public:
  explicit OpenTunnel(Connection& connection) : connection_(connection) {}

  Task<std::string> read() override {
    if (connection_.input_.empty() && !co_await connection_.fill()) co_return std::string();
    std::string bytes(connection_.input_.view());
    connection_.input_.consume(bytes.size());
    co_return bytes;
  }
  Task<bool> write(std::string bytes) override { co_return co_await connection_.send(bytes, {}); }
  void close() override { connection_.stream_.close(); }

 private:
  Connection& connection_;
};

Connection::Connection(Tcp::socket socket, asio::ssl::context* tls, const ServerLimits& limits, Dispatcher& dispatcher)
    : stream_(std::move(socket), tls),
      limits_(limits),
      dispatcher_(dispatcher),
      input_(limits.header_bytes + kInputBeyondHeader) {
  boost::system::error_code ignored;
  (void)stream_.socket().set_option(Tcp::no_delay(true), ignored);
  peer_ = address_text(stream_.socket().remote_endpoint(ignored));
  local_ = address_text(stream_.socket().local_endpoint(ignored));
}

Task<void> Connection::run() {
  // A cancelled wait fails instead of throwing, so that handlers can clean up on their way out.
  co_await asio::this_coro::throw_if_cancelled(false);
  if (co_await handshake()) {
    while (co_await serve_one()) {
    }
  }
  co_await shut();
}

void Connection::check_deadline(Clock::time_point now) {
  if (now < deadline_) return;
  disarm();
  expired_ = true;
  stream_.cancel();
}

void Connection::begin_stop() {
  stopping_ = true;
  if (!busy_) stream_.cancel();
  if (leave_web_socket_) leave_web_socket_();
}

void Connection::end() {
  stopping_ = true;
  stream_.close();
  cancellation_.emit(asio::cancellation_type::terminal);
}

Task<bool> Connection::handshake() {
  if (stream_.tls() == nullptr) co_return true;
  arm(limits_.header_time);
  const auto [error] = co_await stream_.tls()->async_handshake(asio::ssl::stream_base::server, kNoThrow);
  disarm();
  co_return !error && !expired_;
}

// More input. False: see stopped_.
Task<bool> Connection::fill() {
  const asio::mutable_buffer room = input_.room();
  stopped_ = Stopped::kFull;
  if (room.size() == 0) co_return false;
  const auto [error, size] = co_await stream_.async_read_some(room, kNoThrow);
  input_.commit(size);
  stopped_ = !error ? Stopped::kNo : expired_ ? Stopped::kSlow : Stopped::kClosed;
  co_return !error;
}

// Both, in as many pieces as the client takes them.
Task<bool> Connection::send(std::string_view first, std::string_view second) {
  std::array<asio::const_buffer, 2> rest = {asio::buffer(first), asio::buffer(second)};
  const Clock::time_point began = Clock::now();
  uint64_t taken = 0;
  while (rest[0].size() + rest[1].size() > 0) {
    deadline_ = due(began, limits_.write_time, taken);
    const auto [error, size] = co_await stream_.async_write_some(rest, kNoThrow);
    disarm();
    if (error) co_return false;
    taken += size;
    const size_t of_first = std::min(size, rest[0].size());
    rest[0] += of_first;
    rest[1] += size - of_first;
  }
  sent_ += taken;
  co_return true;
}

// One request and its answer. False: the connection is to be closed.
Task<bool> Connection::serve_one() {
  waiting_ = Waiting{was_served_, Clock::now()};
  busy_ = !input_.empty();
  if (!busy_) {
    if (stopping_) co_return false;
    arm(limits_.idle_time);
    if (!co_await fill()) co_return false;
  }
  busy_ = true;
  sent_ = 0;
  const Clock::time_point began = Clock::now();
  HttpRequest request;
  request.peer = peer_;
  request.local = local_;
  request.secure = stream_.tls() != nullptr;
  RequestParser parser(request, limits_.header_bytes, limits_.header_fields);
  const ParseFailure failure = co_await read_header(parser);
  dispatcher_.identify(request);
  if (failure.status != 0) co_await refuse(request, failure);
  if (!parser.header_done() || failure.status != 0) co_return false;
  waiting_.reset();
  Body body(*this, parser);
  co_return co_await answer(request, parser, body, began);
}

// Status 0: it is read, or there is nobody to answer.
Task<ParseFailure> Connection::read_header(RequestParser& parser) {
  arm(limits_.header_time);
  for (;;) {
    const auto taken = parser.feed(input_.view());
    if (!taken) co_return taken.error();
    input_.consume(*taken);
    if (parser.header_done() || !co_await fill()) break;
  }
  disarm();
  if (parser.header_done() || stopped_ == Stopped::kClosed) co_return ParseFailure{0, ""};
  if (stopped_ == Stopped::kFull) co_return ParseFailure{431, "The request's header is too long"};
  co_return ParseFailure{408, "The request's header arrives too slowly"};
}

Task<void> Connection::refuse(HttpRequest& request, const ParseFailure& failure) {
  expired_ = false;
  const HttpResponse response = error_response(failure.status, failure.sentence);
  co_await send(header_text(response, request, Framing::kLength, Ending::kClose), response.body);
  dispatcher_.record_refused(request, failure.status);
}

Task<bool> Connection::answer(HttpRequest& request, RequestParser& parser, Body& body, Clock::time_point began) {
  LimitedBody limited(body);
  HttpResponse response = co_await dispatcher_.respond(request, limited);
  was_served_ = was_served_ || response.status < 400;
  expired_ = false;
  const bool keep = parser.keep_alive() && !stopping_ && body.is_complete();
  bool sent = false;
  if (response.web_socket) {
    dispatcher_.record(request, response.status, 0, Clock::now() - began);
    if (input_.empty()) co_await talk_web_socket(stream_, request, limits_, response.web_socket, leave_web_socket_);
    co_return false;
  }
  if (response.reset || response.tunnel) {
    dispatcher_.record(request, response.status, 0, Clock::now() - began);
    if (response.reset)
      reset();
    else
      co_await pass_through(request, response);
    co_return false;
  }
  const Ending ending = keep ? Ending::kKeepAlive : Ending::kClose;
  if (response.stream && request.method != Method::kHead)
    sent = co_await send_stream(request, parser, response, ending);
  else
    sent = co_await send_response(request, response, ending);
  dispatcher_.record(request, response.status, sent_, Clock::now() - began);
  co_return (keep && sent);
}

Task<void> Connection::pass_through(const HttpRequest& request, HttpResponse& response) {
  if (!co_await send(header_text(response, request, Framing::kNone, Ending::kUpgrade), {})) co_return;
  leave_web_socket_ = [this] { stream_.close(); };
  OpenTunnel tunnel(*this);
  std::string what;
  try {
    co_await response.tunnel(tunnel);
  } catch (const std::exception& error) {
    what = error.what();
  }
  leave_web_socket_ = nullptr;
  if (!what.empty()) log_error("tunnel_threw", {{"request_id", request.id}, {"route", request.route}, {"what", what}});
  stream_.close();
}

// The client sees a failure, not an end.
void Connection::reset() {
  boost::system::error_code ignored;
  (void)stream_.socket().set_option(asio::socket_base::linger(true, 0), ignored);
  stream_.close();
}

Task<bool> Connection::send_response(const HttpRequest& request, HttpResponse& response, Ending ending) {
  const bool counted = response.stream && response.stream_bytes;  // of a HEAD: what a GET would be
  const bool bodiless = response.status == 204 || response.status == 304 || (response.stream && !counted);
  const std::string header = header_text(response, request, bodiless ? Framing::kNone : Framing::kLength, ending);
  const bool silent = bodiless || request.method == Method::kHead;
  co_return co_await send(header, silent ? std::string_view() : std::string_view(response.body));
}

Task<bool> Connection::send_stream(const HttpRequest& request, RequestParser& parser, HttpResponse& response,
                                   Ending ending) {
  const bool counted = response.stream_bytes.has_value();
  const bool chunked = !parser.is_http_1_0() && !counted;
  if (!chunked && !counted) ending = Ending::kClose;
  const Framing framing = counted ? Framing::kLength : chunked ? Framing::kChunked : Framing::kToEnd;
  std::string header = header_text(response, request, framing, ending);
  const size_t header_bytes = header.size();
  if (!response.header_waits && !co_await send(std::exchange(header, ""), {})) co_return false;
  const auto send_piece = [this, &header](std::string_view head, std::string_view rest) -> Task<bool> {
    if (header.empty()) co_return co_await send(head, rest);
    const std::string first = std::exchange(header, "").append(head);
    co_return co_await send(first, rest);
  };
  StreamWriter writer(stream_.get_executor(), send_piece, chunked ? Chunked::kYes : Chunked::kNo);
  if (!response.heartbeat.empty())
    writer.start_heartbeat(response.heartbeat_every.count() == 0 ? limits_.heartbeat : response.heartbeat_every,
                           response.heartbeat);
  std::string what;
  try {
    co_await response.stream(writer);
  } catch (const std::exception& error) {
    what = error.what();
  }
  const bool whole = co_await writer.finish(what.empty());
  if (!what.empty()) log_error("stream_threw", {{"request_id", request.id}, {"route", request.route}, {"what", what}});
  if (writer.abandoned()) reset();
  // A stream that promised more than it wrote leaves a client who waits: he must see the end.
  if (counted) co_return (whole && sent_ - header_bytes == *response.stream_bytes);
  co_return (whole && chunked);
}

// Says goodbye. A client that is still sending would otherwise lose the answer it was just given.
Task<void> Connection::shut() {
  boost::system::error_code ignored;
  expired_ = busy_ = false;
  arm(kFarewellTime);
  if (stream_.tls() != nullptr && stream_.socket().is_open() && stopped_ == Stopped::kNo) {
    co_await stream_.tls()->async_shutdown(kNoThrow);
  } else if (stopped_ != Stopped::kClosed && stream_.socket().is_open()) {
    (void)stream_.socket().shutdown(Tcp::socket::shutdown_send, ignored);
    for (uint64_t discarded = 0; discarded < kMostDiscarded && !stopping_;) {
      input_.consume(input_.view().size());
      if (!co_await fill()) break;
      discarded += input_.view().size();
    }
  }
  disarm();
  stream_.close();
}

}  // namespace bj
