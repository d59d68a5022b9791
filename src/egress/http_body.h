// The body of an HTTP/1.1 message, taken off its bytes as they come: counted, chunked or until the connection closes.
// Chunks are read strictly (hexadecimal sizes, CR LF after each); extensions are dropped. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "egress/http_head.h"
#include "egress/http_response.h"

namespace bj {

BodyLength body_length_of(const HttpHead& request);

class HttpBodyReader {
 public:
  explicit HttpBodyReader(BodyLength length);

  // Takes what belongs to the body off the front of `bytes` and appends its contents to `content`. The number of bytes
  // taken; nothing: it is malformed, reason() says how.
  std::optional<size_t> read(std::string_view bytes, std::string& content);
  // Nothing of it is to come.
  bool is_over() const { return state_ == State::kOver; }
  // The connection was closed. Was that an end?
  bool may_close() const { return state_ == State::kUntilClosed || state_ == State::kOver; }

  const HttpFields& trailers() const { return trailers_; }  // once it is over
  const std::string& reason() const { return reason_; }

 private:
  enum class State { kCounted, kUntilClosed, kSize, kChunk, kChunkEnd, kTrailers, kOver, kBad };
  size_t take_content(std::string_view bytes, std::string& content);
  size_t take_line(std::string_view bytes);
  void end_of_line(std::string_view line);
  void refuse(const char* reason);

  State state_;
  uint64_t left_ = 0;  // of the counted body, or of this chunk
  std::string line_;   // that is not complete yet
  size_t trailer_bytes_ = 0;
  HttpFields trailers_;
  std::string reason_;
};

// What stands before a chunk of so many bytes; CR LF stands behind it.
std::string chunk_size_line(size_t size);
// One chunk that holds `content`, which is not empty.
std::string chunk_of(std::string_view content);
// The end of a chunked body.
std::string last_chunk(const HttpFields& trailers);

}  // namespace bj
