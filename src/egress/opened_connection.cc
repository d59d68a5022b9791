#include "egress/opened_connection.h"

#include "egress/proxy_request.h"

namespace bj {
namespace {

constexpr auto kPatience = std::chrono::seconds(15);
constexpr auto kDrainTime = std::chrono::seconds(2);
constexpr const char* kTooLong = "a body in which a credential takes a place has at most 1 MiB, with it and without";
constexpr const char* kMalformed = "400 Bad Request";
constexpr const char* kBodySize = "413 Content Too Large";
constexpr const char* kHeadSize = "431 Request Header Fields Too Large";
constexpr const char* kHeadTooLong = "a request's head with its credentials has at most 64 KiB";

Decision refusal(std::string reason) {
  Decision decision;
  decision.reason = std::move(reason);
  return decision;
}

bool expects_continue(const HttpHead& head) {
  const std::string* expect = head.field("expect");
  return expect != nullptr && lower_case(*expect) == "100-continue";
}

}  // namespace

// A flow that is closed wakes nobody, so that is looked for now and then.
Task<bool> BodyTurns::take(std::shared_ptr<Flow> flow) {
  constexpr auto kNowAndThen = std::chrono::milliseconds(250);
  while (taken_ >= kMost) {
    if (!flow->client().is_open()) co_return false;
    co_await freed_.wait_until(Clock::now() + kNowAndThen);
  }
  ++taken_;
  co_return true;
}

void BodyTurns::give_back() {
  --taken_;
  freed_.tell();
}

OpenedConnection::OpenedConnection(std::shared_ptr<Flow> flow, Terms terms, SslPtr client, SslPtr server)
    : flow_(std::move(flow)),
      terms_(std::move(terms)),
      client_(flow_->client(), std::move(client)),
      server_(flow_->upstream(), std::move(server)),
      signal_(flow_->client().get_executor()) {}

bool OpenedConnection::account() {
  const uint64_t in = client_.bytes_in() - counted_in_, out = client_.bytes_out() - counted_out_;
  counted_in_ += in;
  counted_out_ += out;
  return flow_->count(in, out);
}

// What leaves is more than what the program sent: placeholders would carry any number of bytes past the caps.
bool OpenedConnection::account_given(size_t given, size_t sent) {
  if (given <= sent || flow_->count(given - sent, 0)) return true;
  flow_->abort();
  return false;
}

Task<bool> OpenedConnection::fill(TlsStream& from, std::string& buffer) {
  if (!co_await flow_->paced(flow_->client())) co_return false;
  const Result<size_t> size = co_await from.read(buffer);
  if (!account()) flow_->abort();
  co_return size && *size != 0;
}

Task<bool> OpenedConnection::tell_client(std::string text) {
  const bool told = co_await client_.write(asio::buffer(text));
  if (!account()) flow_->abort();
  co_return told;
}

Task<bool> OpenedConnection::send(std::string text) { co_return co_await server_.write(asio::buffer(text)); }

Task<bool> OpenedConnection::shake_hands() {
  asio::steady_timer deadline(flow_->client().get_executor(), kPatience);
  deadline.async_wait([flow = flow_](const boost::system::error_code& error) {
    if (!error) flow->abort();
  });
  // The server first: whether it is the right one is told over the connection that the program trusts.
  const Result<void> reached = co_await server_.handshake();
  if (!reached) {
    unreachable_ = terms_.name + " can't be spoken to: " + reached.error().what;
    terms_.tell(GateEvent::Kind::kUpstreamFailed, refusal(*unreachable_), {});
  }
  const Result<void> trusted = co_await client_.handshake();
  deadline.cancel();
  if (!trusted) {
    const std::string why = "the program did not take the gate's certificate for " + terms_.name + ": ";
    terms_.tell(GateEvent::Kind::kConnectionDenied, refusal(why + trusted.error().what), {});
  }
  co_return trusted.has_value();
}

Task<void> OpenedConnection::run() {
  const auto self = shared_from_this();
  flow_->watch();
  if (!co_await shake_hands()) co_return flow_->abort();
  answers_over_ = unreachable_.has_value();
  if (!answers_over_) spawn(flow_->client().get_executor(), [self]() -> Task<void> { co_await self->pass_answers(); });
  co_await take_requests();
  client_.say_goodbye();
  if (refused_) co_await drain();
  server_.say_goodbye();
  flow_->close();
  while (!answers_over_) co_await signal_.wait();
}

Task<void> OpenedConnection::take_requests() {
  while (true) {
    const std::optional<HttpHead> head = co_await next_head();
    if (!head || co_await pass_request(*head) == Next::kEnd) co_return;
    if (!upgraded_) continue;
    (void)co_await pass_client_bytes();
    while (!answers_over_) co_await signal_.wait();
    co_return;
  }
}

Task<std::optional<HttpHead>> OpenedConnection::next_head() {
  HttpHeadReader reader;
  while (true) {
    const auto status = from_client_.empty() ? HttpHeadReader::Status::kNeedMore : reader.read(from_client_);
    if (status == HttpHeadReader::Status::kFound) break;
    if (status != HttpHeadReader::Status::kNeedMore) {
      (void)co_await refuse(kMalformed, reader.reason());
      co_return std::nullopt;
    }
    if (!co_await fill(client_, from_client_)) co_return std::nullopt;
  }
  from_client_.erase(0, reader.head().size_bytes);
  co_return reader.head();
}

Task<OpenedConnection::Next> OpenedConnection::refuse(const char* status, std::string reason) {
  refused_ = true;
  terms_.tell(GateEvent::Kind::kConnectionDenied, refusal(reason), {});
  (void)co_await tell_client(http_refusal(status, reason));
  co_return Next::kEnd;
}

// A server may be early: an answer that has begun can only be cut.
Task<bool> OpenedConnection::refuse_pending(const char* status, std::string reason) {
  if (!pending_) co_return false;
  if (answering_) {
    terms_.tell(GateEvent::Kind::kConnectionDenied, refusal(std::move(reason)), {});
    flow_->abort();
    co_return false;
  }
  pending_.reset();
  (void)co_await refuse(status, std::move(reason));
  co_return false;
}

Task<void> OpenedConnection::drain() {
  boost::system::error_code ignored;
  flow_->client().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  asio::steady_timer deadline(flow_->client().get_executor(), kDrainTime);
  deadline.async_wait([flow = flow_](const boost::system::error_code& error) {
    if (!error) flow->close();
  });
  do from_client_.clear();
  while (co_await fill(client_, from_client_));
}

// For another place than the one that was decided on, or none that we could pass on.
std::optional<std::string> OpenedConnection::complaint_of(const HttpHead& head) const {
  if (head.is_connect || head.is_absolute) return "a request for a proxy was sent inside TLS to " + terms_.name;
  if (head.authority.name != terms_.name)
    return "the connection is to " + terms_.name + " but asks for " + head.authority.host();
  if (head.authority.port.value_or(terms_.port) != terms_.port) return "the Host's port is not the connection's";
  return {};
}

Task<OpenedConnection::Next> OpenedConnection::pass_request(const HttpHead& head) {
  if (std::optional<std::string> complaint = complaint_of(head))
    co_return co_await refuse("421 Misdirected Request", std::move(*complaint));
  Decision decision = terms_.decide(head);
  if (decision.denied()) {
    refused_ = true;
    const std::string answer = http_refusal("403 Forbidden", decision.reason);
    terms_.tell(GateEvent::Kind::kConnectionDenied, std::move(decision), {});
    (void)co_await tell_client(answer);
    co_return Next::kEnd;
  }
  if (unreachable_) {
    refused_ = true;
    (void)co_await tell_client(http_refusal("502 Bad Gateway", *unreachable_));
    co_return Next::kEnd;
  }
  if (answers_over_) co_return Next::kEnd;
  pending_ = Pending{head.method, head.is_http_1_0, head.upgrade == "websocket", head.keep_alive, false};
  if (!co_await send_request(head)) {
    while (pending_ && !answers_over_) co_await signal_.wait();  // the server may have said why
    co_return Next::kEnd;
  }
  if (pending_) pending_->is_sent = true;
  while (pending_ && !answers_over_) co_await signal_.wait();
  co_return answers_over_ && !upgraded_ ? Next::kEnd : Next::kGoOn;
}

Task<bool> OpenedConnection::send_request(const HttpHead& head) {
  const CredentialChoice chosen = meant_for(terms_.credentials, head);
  const BodyLength length = body_length_of(head);
  if (length.kind != BodyLength::Kind::kNone && reads_body(chosen))
    co_return co_await send_with_rewritten_body(head, chosen, length);
  if (!co_await send_head(head, chosen, std::nullopt)) co_return false;
  co_return co_await send_body(length);
}

Task<bool> OpenedConnection::send_head(const HttpHead& head, const CredentialChoice& chosen,
                                       std::optional<uint64_t> body_size) {
  const Answers answers = terms_.credentials.empty() ? Answers::kAsAsked : Answers::kReadable;
  const GivenRequest given = give_to_head(head, chosen, answers, body_size);
  if (!given.fits) co_return co_await refuse_pending(kHeadSize, kHeadTooLong);
  if (!account_given(given.text.size(), head.size_bytes)) co_return false;
  note_use(given.used);
  const std::string_view text = given.text.view();
  co_return co_await server_.write(asio::buffer(text.data(), text.size()));
}

void OpenedConnection::note_use(const std::vector<std::string>& names) {
  for (const std::string& name : names) terms_.tell(GateEvent::Kind::kSecretUsed, {}, name);
}

Task<bool> OpenedConnection::send_body(BodyLength length) {
  HttpBodyReader reader(length);
  const bool chunked = length.kind == BodyLength::Kind::kChunked;
  while (!reader.is_over()) {
    if (from_client_.empty() && !co_await fill(client_, from_client_)) {
      flow_->abort();  // a request that was cut must not look whole
      co_return false;
    }
    std::string content;
    const std::optional<size_t> taken = reader.read(from_client_, content);
    if (!taken) co_return co_await refuse_pending(kMalformed, reader.reason());
    from_client_.erase(0, *taken);
    if (content.empty()) continue;
    if (!co_await send(chunked ? chunk_of(content) : std::move(content))) co_return false;
  }
  co_return !chunked || co_await send(last_chunk(reader.trailers()));
}

Task<bool> OpenedConnection::send_with_rewritten_body(const HttpHead& head, const CredentialChoice& chosen,
                                                      BodyLength length) {
  if (length.size > kMostGivenBody) co_return co_await refuse_pending(kBodySize, kTooLong);
  if (!co_await terms_.bodies->take(flow_)) co_return false;
  const bool sent = co_await rewrite_body(head, chosen, length);
  terms_.bodies->give_back();
  co_return sent;
}

Task<bool> OpenedConnection::rewrite_body(const HttpHead& head, const CredentialChoice& chosen, BodyLength length) {
  if (expects_continue(head) && !co_await tell_client("HTTP/1.1 100 Continue\r\n\r\n")) co_return false;
  HttpBodyReader reader(length);
  std::string body;
  while (!reader.is_over()) {
    if (from_client_.empty() && !co_await fill(client_, from_client_)) {
      flow_->abort();  // a request that was cut must not look whole
      co_return false;
    }
    const std::optional<size_t> taken = reader.read(from_client_, body);
    if (!taken) co_return co_await refuse_pending(kMalformed, reader.reason());
    if (body.size() > kMostGivenBody) co_return co_await refuse_pending(kBodySize, kTooLong);
    from_client_.erase(0, *taken);
  }
  const GivenRequest given = give_to_body(head, body, chosen);
  if (!given.fits) co_return co_await refuse_pending(kBodySize, kTooLong);
  if (!co_await send_head(head, chosen, given.text.size())) co_return false;
  if (!account_given(given.text.size(), body.size())) co_return false;
  note_use(given.used);
  const std::string_view text = given.text.view();
  if (head.is_chunked && !text.empty() && !co_await send(chunk_size_line(text.size()))) co_return false;
  if (!co_await server_.write(asio::buffer(text.data(), text.size()))) co_return false;
  if (head.is_chunked) co_return co_await send((text.empty() ? "" : "\r\n") + last_chunk(reader.trailers()));
  co_return true;
}

// After the handshake of a WebSocket.
Task<bool> OpenedConnection::pass_client_bytes() {
  while (!answers_over_) {
    if (!from_client_.empty() && !co_await send(std::exchange(from_client_, {}))) co_return false;
    if (!co_await fill(client_, from_client_)) break;
  }
  server_.say_goodbye();
  co_return true;
}

}  // namespace bj
