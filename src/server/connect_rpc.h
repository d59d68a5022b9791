// The Connect protocol with JSON, as a server speaks it (connectrpc.com): unary calls are plain JSON both ways; streams
// are envelopes of one flag byte, a length and JSON, the last of which says how it ended. A stream's failure is told in
// that last envelope, under status 200: clients take the code of a failed status from nowhere else.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "server/request.h"
#include "server/response.h"

namespace bj {

enum class RpcCode {
  kCanceled,
  kUnknown,
  kInvalidArgument,
  kDeadlineExceeded,
  kNotFound,
  kAlreadyExists,
  kPermissionDenied,
  kResourceExhausted,
  kFailedPrecondition,
  kUnimplemented,
  kInternal,
  kUnavailable,
  kUnauthenticated,
};

struct RpcError {
  RpcCode code = RpcCode::kUnknown;
  std::string message;
};

template <class T>
using RpcResult = tl::expected<T, RpcError>;
inline tl::unexpected<RpcError> rpc_fail(RpcCode code, std::string message) {
  return tl::unexpected(RpcError{code, std::move(message)});
}

std::string_view rpc_code_name(RpcCode code);  // "invalid_argument"
unsigned rpc_status(RpcCode code);

// A unary call's answer.
HttpResponse rpc_response(const RpcResult<boost::json::object>& answer);

// One message on the wire, and the end of a stream.
std::string rpc_message(const boost::json::object& message);
std::string rpc_end(const std::optional<RpcError>& error);

// Where a stream's messages go.
class RpcStream {
 public:
  explicit RpcStream(BodyWriter& body) : body_(body) {}
  // False when the client is gone.
  Task<bool> send(const boost::json::object& message);
  // The last message: it leaves with the stream's end.
  void end_with(const boost::json::object& message);
  bool gone() const { return body_.gone(); }
  // The connection is reset instead of ended: what is streamed broke off.
  void abandon() { abandoned_ = true; }
  bool abandoned() const { return abandoned_; }
  const std::string& last() const { return last_; }

 private:
  BodyWriter& body_;
  std::string last_;
  bool abandoned_ = false;
};

struct RpcKeepalive {
  boost::json::object message;
  std::chrono::seconds every{90};
};

// 200 and what `produce` sends; what it returns is the stream's end.
HttpResponse rpc_stream(std::function<Task<std::optional<RpcError>>(RpcStream&)> produce,
                        const RpcKeepalive& keepalive);

// The one message of a stream's request, or the message of a unary call. kInvalidArgument: it is none.
RpcResult<boost::json::object> read_rpc_request(const HttpRequest& request);
bool is_rpc_stream(const HttpRequest& request);  // by its Content-Type

// What the client's headers ask for.
std::optional<std::chrono::milliseconds> rpc_timeout(const HttpRequest& request);  // Connect-Timeout-Ms
std::chrono::seconds rpc_keepalive(const HttpRequest& request);                    // Keepalive-Ping-Interval, else 90

// Messages of a request whose body is a stream, one by one.
class RpcEnvelopes {
 public:
  explicit RpcEnvelopes(BodyReader& body) : body_(body) {}
  // Nothing at the end.
  Task<RpcResult<std::optional<boost::json::object>>> next();

 private:
  BodyReader& body_;
  std::string bytes_;
};

}  // namespace bj
