// The head of an HTTP/1.x response, read as strictly as a request's (http_head.h): it comes from a server that the
// sandbox's code may be in league with. And how long the body behind it is, which depends on what was asked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "egress/http_fields.h"

namespace bj {

struct ResponseHead {
  int status = 0;
  std::string reason_phrase;
  bool is_http_1_0 = false;
  bool is_chunked = false;
  std::optional<uint64_t> content_length;
  bool keep_alive = true;
  HttpFields fields;      // in order
  size_t size_bytes = 0;  // of the head in the bytes fed

  bool is_interim() const { return status < 200 && status != 101; }
};

// How the end of a body is known.
struct BodyLength {
  enum class Kind { kNone, kCounted, kChunked, kUntilClosed };
  Kind kind = Kind::kNone;
  uint64_t size = 0;  // of kCounted
};
BodyLength body_length_of(const ResponseHead& response, std::string_view request_method);

class HttpResponseReader {
 public:
  enum class Status { kNeedMore, kFound, kRefused };

  // `bytes`: everything from the start of the response. Not to be called again after another answer than kNeedMore.
  Status read(std::string_view bytes);

  const ResponseHead& response() const { return response_; }  // of kFound
  const std::string& reason() const { return reason_; }       // of kRefused: a sentence

 private:
  HttpHeadEnd end_;
  ResponseHead response_;
  std::string reason_;
};

}  // namespace bj
