// What a handler answers: a body, or something that goes on after the header was sent (a stream, a WebSocket).
//
//   co_return json_response(200, {{"id", tool.id}});
//   co_return error_response(404, "there is no tool \"x\"");
//   co_return event_stream([&request](EventStream& events) -> Task<void> { co_await events.send("done", "{}"); });
//
// A stream's function is kept until it has ended, so a lambda's captures live as long as its coroutine.
#pragma once

#include <boost/json/value.hpp>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/async.h"
#include "server/event_stream.h"
#include "server/headers.h"
#include "server/tunnel.h"
#include "server/web_socket.h"

namespace bj {

struct HttpRequest;

struct HttpResponse {
  unsigned status = 200;
  Headers headers;
  std::string body;
  std::function<Task<void>(BodyWriter&)> stream;  // if set: what it writes is sent, chunked, instead of `body`
  std::optional<uint64_t> stream_bytes;  // if the stream writes exactly so many: a Content-Length instead of chunks
  bool header_waits = false;             // for the stream's first piece, which comes at once: one packet
  std::string heartbeat;                 // if set: a stream writes this whenever it has been silent for so long
  std::chrono::milliseconds heartbeat_every{0};
  std::function<Task<void>(WebSocket&)> web_socket;  // if set: the connection is upgraded; only from WebSocket routes
  std::function<Task<void>(Tunnel&)> tunnel;         // if set: behind the header the connection is bytes, both ways
  bool foreign = false;                              // somebody else's answer, passed on: no header of ours is added
  bool reset = false;                                // nothing is answered: the connection is reset
};

HttpResponse json_response(unsigned status, const boost::json::value& value);
// For JSON that exists as text already.
HttpResponse json_text_response(unsigned status, std::string text);
HttpResponse text_response(unsigned status, std::string_view content_type, std::string body);
HttpResponse empty_response(unsigned status = 204);

// {"detail": sentence}.
HttpResponse error_response(unsigned status, std::string_view sentence);
// The status by the error's code; an internal error keeps its sentence to the log and says "An unknown error occurred".
HttpResponse error_response(const Error& error);
// 422 {"trace_id": the request's id, "detail": sentence}.
HttpResponse validation_error(const HttpRequest& request, std::string_view sentence);
unsigned status_of(Code code);
// A failure told as {"code": its status, "message": its sentence}, 422 as 400; anything else as it is.
HttpResponse with_code_and_message(HttpResponse response);

// 200 with server-sent events. Heartbeats are sent as long as `produce` runs.
HttpResponse event_stream(std::function<Task<void>(EventStream&)> produce);
HttpResponse web_socket(std::function<Task<void>(WebSocket&)> talk);

}  // namespace bj
