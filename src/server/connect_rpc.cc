#include "server/connect_rpc.h"

#include <array>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>

namespace bj {
namespace {

namespace json = boost::json;

constexpr size_t kPrefix = 5;  // flags and length
constexpr size_t kLongestMessage = 64 << 20;
constexpr char kEndFlag = 2;

struct CodeFacts {
  RpcCode code;
  std::string_view name;
  unsigned status;
};
constexpr std::array kCodes = {
    CodeFacts{RpcCode::kCanceled, "canceled", 499},
    CodeFacts{RpcCode::kUnknown, "unknown", 500},
    CodeFacts{RpcCode::kInvalidArgument, "invalid_argument", 400},
    CodeFacts{RpcCode::kDeadlineExceeded, "deadline_exceeded", 504},
    CodeFacts{RpcCode::kNotFound, "not_found", 404},
    CodeFacts{RpcCode::kAlreadyExists, "already_exists", 409},
    CodeFacts{RpcCode::kPermissionDenied, "permission_denied", 403},
    CodeFacts{RpcCode::kResourceExhausted, "resource_exhausted", 429},
    CodeFacts{RpcCode::kFailedPrecondition, "failed_precondition", 400},
    CodeFacts{RpcCode::kUnimplemented, "unimplemented", 501},
    CodeFacts{RpcCode::kInternal, "internal", 500},
    CodeFacts{RpcCode::kUnavailable, "unavailable", 503},
    CodeFacts{RpcCode::kUnauthenticated, "unauthenticated", 401},
};

const CodeFacts& facts_of(RpcCode code) { return kCodes[static_cast<size_t>(code)]; }

json::object error_object(const RpcError& error) {
  return {{"code", rpc_code_name(error.code)}, {"message", error.message}};
}

std::string envelope(char flags, const json::object& message) {
  const std::string text = json::serialize(message);
  const auto size = static_cast<uint32_t>(text.size());
  std::string out;
  out.reserve(kPrefix + text.size());
  out += flags;
  for (const int shift : {24, 16, 8, 0}) out += static_cast<char>(size >> shift & 0xff);
  return out + text;
}

size_t length_of(std::string_view prefix) {
  size_t size = 0;
  for (size_t i = 1; i < kPrefix; ++i) size = size << 8 | static_cast<unsigned char>(prefix[i]);
  return size;
}

RpcResult<json::object> object_of(std::string_view text) {
  if (text.empty()) return json::object();
  json::error_code bad;
  json::value value = json::parse(text, bad);
  if (bad || !value.is_object()) return rpc_fail(RpcCode::kInvalidArgument, "the message is no JSON object");
  return std::move(value.get_object());
}

std::optional<int64_t> number_in(const HttpRequest& request, std::string_view header) {
  const std::string_view text = request.headers.get(header);
  int64_t value = 0;
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || bad != std::errc() || end != text.data() + text.size() || value <= 0) return std::nullopt;
  return value;
}

}  // namespace

std::string_view rpc_code_name(RpcCode code) { return facts_of(code).name; }
unsigned rpc_status(RpcCode code) { return facts_of(code).status; }

HttpResponse rpc_response(const RpcResult<json::object>& answer) {
  if (answer) return json_response(200, *answer);
  return json_response(rpc_status(answer.error().code), error_object(answer.error()));
}

std::string rpc_message(const json::object& message) { return envelope(0, message); }

std::string rpc_end(const std::optional<RpcError>& error) {
  json::object end;
  if (error) end["error"] = error_object(*error);
  return envelope(kEndFlag, end);
}

Task<bool> RpcStream::send(const json::object& message) { co_return co_await body_.write(rpc_message(message)); }

void RpcStream::end_with(const json::object& message) { last_ = rpc_message(message); }

HttpResponse rpc_stream(std::function<Task<std::optional<RpcError>>(RpcStream&)> produce,
                        const RpcKeepalive& keepalive) {
  HttpResponse response = text_response(200, "application/connect+json", "");
  response.header_waits = true;
  response.heartbeat = rpc_message(keepalive.message);
  response.heartbeat_every = keepalive.every;
  response.stream = [produce = std::move(produce)](BodyWriter& body) -> Task<void> {
    RpcStream stream(body);
    const std::optional<RpcError> error = co_await produce(stream);
    if (stream.abandoned())
      body.abandon();
    else
      body.end_with(stream.last() + rpc_end(error));
  };
  return response;
}

bool is_rpc_stream(const HttpRequest& request) {
  return request.headers.get("Content-Type").starts_with("application/connect+");
}

RpcResult<json::object> read_rpc_request(const HttpRequest& request) {
  const std::string_view type = request.headers.get("Content-Type");
  std::string_view body = request.body;
  if (!is_rpc_stream(request)) {
    if (!type.starts_with("application/json"))
      return rpc_fail(RpcCode::kUnimplemented, "only application/json and application/connect+json are spoken here");
    return object_of(body);
  }
  if (!type.starts_with("application/connect+json"))
    return rpc_fail(RpcCode::kUnimplemented, "only application/connect+json is streamed here");
  if (body.size() < kPrefix || body[0] != 0 || length_of(body) != body.size() - kPrefix)
    return rpc_fail(RpcCode::kInvalidArgument, "the request is not one whole message, uncompressed");
  return object_of(body.substr(kPrefix));
}

std::optional<std::chrono::milliseconds> rpc_timeout(const HttpRequest& request) {
  const std::optional<int64_t> ms = number_in(request, "Connect-Timeout-Ms");
  if (!ms) return std::nullopt;
  return std::chrono::milliseconds(*ms);
}

std::chrono::seconds rpc_keepalive(const HttpRequest& request) {
  constexpr int64_t kUsual = 90;
  return std::chrono::seconds(std::min<int64_t>(number_in(request, "Keepalive-Ping-Interval").value_or(kUsual), 3600));
}

Task<RpcResult<std::optional<json::object>>> RpcEnvelopes::next() {
  for (;;) {
    if (bytes_.size() >= kPrefix) {
      const size_t length = length_of(bytes_);
      if (length > kLongestMessage || (bytes_[0] != 0 && bytes_[0] != kEndFlag))
        co_return rpc_fail(RpcCode::kInvalidArgument, "a message is too long or compressed");
      if (bytes_.size() >= kPrefix + length) {
        const bool end = bytes_[0] == kEndFlag;
        RpcResult<json::object> message = object_of(std::string_view(bytes_).substr(kPrefix, length));
        bytes_.erase(0, kPrefix + length);
        if (end) co_return std::optional<json::object>();
        if (!message) co_return tl::unexpected(message.error());
        co_return std::optional<json::object>(std::move(*message));
      }
    }
    Result<std::string> piece = co_await body_.read();
    if (!piece) co_return rpc_fail(RpcCode::kInvalidArgument, piece.error().what);
    if (piece->empty() && !bytes_.empty()) co_return rpc_fail(RpcCode::kInvalidArgument, "the last message is cut off");
    if (piece->empty()) co_return std::optional<json::object>();
    bytes_ += *piece;
  }
}

}  // namespace bj
