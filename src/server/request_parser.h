// Bytes to a request: HTTP/1.1's framing by Beast's parser, and on top of it what we refuse although a lenient server
// would guess: more than one Content-Length or Host, any Transfer-Encoding but chunked, one at all in HTTP/1.0, a Host
// that differs from an absolute target. What two servers could read differently is how requests are smuggled.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "server/request.h"

namespace bj {

// What to answer to bytes that are no request.
struct ParseFailure {
  unsigned status;
  std::string sentence;
};

class RequestParser {
 public:
  // Fills `request`, which must outlive it. Trailers of a chunked body are checked and dropped.
  RequestParser(HttpRequest& request, uint32_t header_bytes, uint32_t header_fields);
  ~RequestParser();

  // Takes bytes from the front of those that arrived and were not taken yet, and says how many. Stops behind the
  // header.
  tl::expected<size_t, ParseFailure> feed(std::string_view bytes);
  bool header_done() const;
  bool done() const;
  // What feed() found of the body since the last call.
  std::string take_body();

  // Once the header is done:
  bool keep_alive() const;
  bool is_http_1_0() const;
  bool expects_continue() const;
  std::optional<uint64_t> length() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace bj
