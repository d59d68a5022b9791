#include <memory>

#include "api/preview/pages.h"
#include "api/preview/passing.h"
#include "api/preview/preview.h"
#include "api/preview/upstream.h"
#include "egress/http_body.h"
#include "server/dispatcher.h"

namespace bj::preview {
namespace {

constexpr auto kAnswerTime = std::chrono::minutes(10);  // until a head; then between two pieces
constexpr auto kIdleSocket = std::chrono::hours(4);     // of a WebSocket
constexpr int kMostInterim = 8;

struct Answer {
  ResponseHead head;
  std::string rest;  // what came behind the head
};

// The body as it comes. Half an answer: the client's body could not be read.
Task<std::optional<HttpResponse>> send_body(HttpRequest& request, Upstream& upstream) {
  const bool chunked = !request.body_stream->length();
  for (;;) {
    Result<std::string> piece = co_await request.body_stream->read();
    if (!piece) co_return body_failure(piece.error());
    if (piece->empty()) break;
    // Who does not read on may have answered already: that is looked at next.
    if (!co_await upstream.write(chunked ? chunk_of(*piece) : *piece)) co_return std::nullopt;
  }
  if (chunked) (void)co_await upstream.write(last_chunk({}));
  co_return std::nullopt;
}

Task<Result<Answer>> read_answer(Upstream& upstream) {
  std::string bytes;
  for (int interim = 0; interim <= kMostInterim;) {
    HttpResponseReader reader;
    HttpResponseReader::Status status = reader.read(bytes);
    while (status == HttpResponseReader::Status::kNeedMore) {
      const std::string more = co_await upstream.read(kAnswerTime);
      if (more.empty()) co_return fail(Code::kUnavailable, "The port closed the connection without an answer");
      bytes += more;
      status = reader.read(bytes);
    }
    if (status == HttpResponseReader::Status::kRefused)
      co_return fail(Code::kInvalid, "The port's answer can't be read: " + reader.reason());
    bytes.erase(0, reader.response().size_bytes);
    if (!reader.response().is_interim()) co_return Answer{reader.response(), std::move(bytes)};
    ++interim;
  }
  co_return fail(Code::kInvalid, "The port's answer can't be read: it does not begin");
}

Task<void> send_answer(std::shared_ptr<Upstream> upstream, BodyLength length, std::string bytes, BodyWriter& body) {
  HttpBodyReader reader(length);
  while (!reader.is_over()) {
    std::string content;
    if (!bytes.empty() && !reader.read(bytes, content)) break;
    if (!content.empty() && !co_await body.write(std::move(content))) co_return;
    if (reader.is_over()) co_return;
    bytes = co_await upstream->read(kAnswerTime);
    if (bytes.empty()) break;
  }
  if (!reader.may_close()) body.abandon();
}

// Both ways until one side ends; either may speak first.
Task<void> join(std::shared_ptr<Upstream> upstream, std::string first, Tunnel& tunnel) {
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  const auto inward_over = std::make_shared<OneShot<bool>>(executor);
  spawn(executor, [upstream, inward_over, &tunnel]() -> Task<void> {
    for (std::string bytes; !(bytes = co_await tunnel.read()).empty();) {
      if (!co_await upstream->write(bytes)) break;
    }
    upstream->close();
    inward_over->set(true);
  });
  if (first.empty()) first = co_await upstream->read(kIdleSocket);
  while (!first.empty()) {
    if (!co_await tunnel.write(std::move(first))) break;
    first = co_await upstream->read(kIdleSocket);
  }
  upstream->close();
  tunnel.close();
  (void)co_await inward_over->get();
}

HttpResponse answer_of(const std::shared_ptr<Upstream>& upstream, Answer answer, const HttpRequest& request,
                       const Traffic& traffic) {
  HttpResponse response = passed_on(answer.head, traffic);
  if (answer.head.status == 101) {
    response.tunnel = [upstream, rest = std::move(answer.rest)](Tunnel& tunnel) {
      return join(upstream, rest, tunnel);
    };
    return response;
  }
  const BodyLength length = body_length_of(answer.head, name_of(request.method));
  if (length.kind == BodyLength::Kind::kCounted) response.stream_bytes = length.size;
  if (request.method == Method::kHead) response.stream_bytes = answer.head.content_length;
  if (length.kind == BodyLength::Kind::kNone && request.method != Method::kHead) return response;
  response.stream = [upstream, length, rest = std::move(answer.rest)](BodyWriter& body) {
    return send_answer(upstream, length, rest, body);
  };
  return response;
}

}  // namespace

Task<HttpResponse> pass(std::shared_ptr<HeldSandbox> sandbox, HttpRequest& request, const Traffic& traffic,
                        std::string host, Speaks speaks) {
  Result<std::shared_ptr<Upstream>> opened = co_await Upstream::open(sandbox->live, traffic.port, speaks);
  if (!opened && opened.error().code == Code::kUnavailable && speaks == Speaks::kTls)
    co_return error_answer(request, traffic, 502, opened.error().what);
  if (!opened) co_return closed_port(request, traffic);
  const std::shared_ptr<Upstream> upstream = *opened;
  if (!co_await upstream->write(request_head(request, traffic, host)))
    co_return error_answer(request, traffic, 502, "The port closed the connection");
  if (std::optional<HttpResponse> unread = co_await send_body(request, *upstream)) co_return std::move(*unread);
  Result<Answer> answer = co_await read_answer(*upstream);
  if (!answer) co_return error_answer(request, traffic, 502, answer.error().what);
  if (answer->head.status == 101 && !is_upgrade(request))
    co_return error_answer(request, traffic, 502, "The port changed the protocol without being asked");
  co_return answer_of(upstream, std::move(*answer), request, traffic);
}

}  // namespace bj::preview
