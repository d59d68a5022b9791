// The server's way of an opened connection: answers, looked through for what must not come back.
#include <algorithm>

#include "egress/opened_connection.h"
#include "egress/proxy_request.h"
#include "egress/websocket_frames.h"

namespace bj {
namespace {

using Kind = BodyLength::Kind;

// Between the server and us, or said by us instead.
bool is_ours_to_say(std::string_view name) {
  return name == "connection" || name == "keep-alive" || name == "proxy-connection" || name == "transfer-encoding" ||
         name == "upgrade";
}

}  // namespace

Task<void> OpenedConnection::pass_answers() {
  const auto self = shared_from_this();
  while (co_await pass_answer() == Next::kGoOn) {
  }
  answers_over_ = true;
  if (!server_.ended_silently()) client_.say_goodbye();
  flow_->close();
  signal_.tell();
}

Task<OpenedConnection::Next> OpenedConnection::pass_answer() {
  HttpResponseReader reader;
  while (true) {
    if (!from_server_.empty() && !pending_) co_return Next::kEnd;  // an answer to nothing
    const auto status = from_server_.empty() ? HttpResponseReader::Status::kNeedMore : reader.read(from_server_);
    if (status == HttpResponseReader::Status::kFound) break;
    if (status == HttpResponseReader::Status::kRefused) co_return co_await refuse_answer(reader.reason());
    if (!co_await fill(server_, from_server_)) co_return Next::kEnd;
  }
  const ResponseHead& response = reader.response();
  from_server_.erase(0, response.size_bytes);
  if (std::optional<std::string> complaint = complaint_of(response))
    co_return co_await refuse_answer(std::move(*complaint));
  const BodyLength length = body_length_of(response, pending_->method);
  answering_ = !response.is_interim();
  if (!co_await tell_client(head_for_client(response, length))) co_return Next::kEnd;
  if (response.is_interim()) co_return Next::kGoOn;
  if (response.status == 101) {
    upgraded_ = true;
    pending_.reset();
    signal_.tell();
    (void)co_await pass_websocket();
    co_return Next::kEnd;
  }
  if (!co_await answer_body(length)) co_return Next::kEnd;
  const bool goes_on = pending_ && pending_->is_sent && pending_->keep_alive && response.keep_alive &&
                       length.kind != Kind::kUntilClosed && !(pending_->is_http_1_0 && length.kind == Kind::kChunked);
  pending_.reset();
  answering_ = false;
  if (goes_on) signal_.tell();
  co_return goes_on ? Next::kGoOn : Next::kEnd;
}

std::optional<std::string> OpenedConnection::complaint_of(const ResponseHead& response) const {
  if (response.status == 101 && !pending_->wants_websocket) return terms_.name + " changed to another protocol unasked";
  if (terms_.forbidden->empty()) return {};
  const auto is_coded = [](const HttpField& field) {
    return field.name == "content-encoding" && lower_case(field.value) != "identity";
  };
  if (std::any_of(response.fields.begin(), response.fields.end(), is_coded))
    return terms_.name + " sent its answer compressed though it was asked not to, so credentials in it can't be seen";
  return {};
}

Task<OpenedConnection::Next> OpenedConnection::refuse_answer(std::string reason) {
  Decision decision;
  decision.reason = reason;
  terms_.tell(GateEvent::Kind::kUpstreamFailed, std::move(decision), {});
  (void)co_await tell_client(http_refusal("502 Bad Gateway", reason));
  pending_.reset();
  co_return Next::kEnd;
}

std::string OpenedConnection::head_for_client(const ResponseHead& response, BodyLength length) const {
  const ForbiddenTexts& forbidden = *terms_.forbidden;
  std::string head =
      "HTTP/1.1 " + std::to_string(response.status) + " " + forbidden.redacted(response.reason_phrase) + "\r\n";
  for (const HttpField& field : response.fields) {
    if (is_ours_to_say(field.name)) continue;
    head += forbidden.redacted(field.name) + ": " + forbidden.redacted(field.value) + "\r\n";
  }
  if (response.is_interim()) return head + "\r\n";
  if (response.status == 101) return head + "connection: upgrade\r\nupgrade: websocket\r\n\r\n";
  const bool chunked = length.kind == Kind::kChunked;
  if (chunked && !pending_->is_http_1_0) head += "transfer-encoding: chunked\r\n";
  const bool closes = !pending_->keep_alive || !response.keep_alive || length.kind == Kind::kUntilClosed ||
                      (chunked && pending_->is_http_1_0);
  return head + (closes                  ? "connection: close\r\n\r\n"
                 : pending_->is_http_1_0 ? "connection: keep-alive\r\n\r\n"
                                         : "\r\n");
}

Task<bool> OpenedConnection::answer_body(BodyLength length) {
  HttpBodyReader reader(length);
  Redactor redactor(terms_.forbidden);
  const bool chunked = length.kind == Kind::kChunked && !pending_->is_http_1_0;
  bool cut = false;
  while (!reader.is_over() && !cut) {
    if (from_server_.empty()) {
      const bool paced = co_await flow_->paced(flow_->upstream());
      const Result<size_t> size = paced ? co_await server_.read(from_server_) : Result<size_t>(size_t{0});
      cut = size ? *size == 0 : server_.ended_silently();
      if ((!size && !cut) || (cut && !reader.may_close())) {
        flow_->abort();  // a body that was cut must not look whole
        co_return false;
      }
    }
    std::string content, clean;
    const std::optional<size_t> taken = reader.read(from_server_, content);
    if (!taken) {
      flow_->abort();
      co_return false;
    }
    from_server_.erase(0, *taken);
    redactor.pass(content, clean);
    if (reader.is_over() || cut) redactor.finish(clean);
    if (clean.empty()) continue;
    if (!co_await tell_client(chunked ? chunk_of(clean) : std::move(clean))) co_return false;
  }
  if (!chunked) co_return true;
  HttpFields trailers = reader.trailers();
  for (HttpField& field : trailers) {
    field.name = terms_.forbidden->redacted(field.name);
    field.value = terms_.forbidden->redacted(field.value);
  }
  co_return co_await tell_client(last_chunk(trailers));
}

Task<bool> OpenedConnection::pass_websocket() {
  Redactor redactor(terms_.forbidden);
  WebSocketFrames frames;
  while (true) {
    std::string clean;
    for (size_t at = 0; at < from_server_.size();) {
      const size_t size = frames.pass(std::string_view(from_server_).substr(at));
      redactor.pass(std::string_view(from_server_).substr(at, size), clean);
      if (frames.ended()) redactor.finish(clean);  // the next one's head stands between
      at += size;
    }
    from_server_.clear();
    if (!clean.empty() && !co_await tell_client(std::move(clean))) co_return false;
    if (!co_await fill(server_, from_server_)) co_return true;
  }
}

}  // namespace bj
