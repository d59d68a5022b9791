#include "egress/http_body.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace bj {
namespace {

constexpr size_t kMaxSizeLine = 256, kMaxTrailers = 8 * 1024, kMaxSizeDigits = 15;

}  // namespace

BodyLength body_length_of(const HttpHead& request) {
  if (request.is_chunked) return {BodyLength::Kind::kChunked, 0};
  if (request.content_length) return {BodyLength::Kind::kCounted, *request.content_length};
  return {};
}

HttpBodyReader::HttpBodyReader(BodyLength length) : state_(State::kOver), left_(length.size) {
  switch (length.kind) {
    case BodyLength::Kind::kNone: break;
    case BodyLength::Kind::kCounted: state_ = left_ == 0 ? State::kOver : State::kCounted; break;
    case BodyLength::Kind::kChunked: state_ = State::kSize; break;
    case BodyLength::Kind::kUntilClosed: state_ = State::kUntilClosed; break;
  }
}

void HttpBodyReader::refuse(const char* reason) {
  state_ = State::kBad;
  reason_ = reason;
}

size_t HttpBodyReader::take_content(std::string_view bytes, std::string& content) {
  if (state_ == State::kUntilClosed) {
    content.append(bytes);
    return bytes.size();
  }
  const size_t size = static_cast<size_t>(std::min<uint64_t>(left_, bytes.size()));
  content.append(bytes.substr(0, size));
  left_ -= size;
  if (left_ == 0) state_ = state_ == State::kCounted ? State::kOver : State::kChunkEnd;
  return size;
}

void HttpBodyReader::end_of_line(std::string_view line) {
  if (state_ == State::kChunkEnd) {
    if (!line.empty()) return refuse("a chunk is longer than its size says");
    state_ = State::kSize;
  } else if (state_ == State::kSize) {
    const std::string_view digits = line.substr(0, line.find_first_of("; \t"));
    uint64_t size = 0;
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), size, 16);
    if (digits.empty() || digits.size() > kMaxSizeDigits || error != std::errc() ||
        stop != digits.data() + digits.size())
      return refuse("a chunk's size is no hexadecimal number");
    if (line.find('\r') != line.npos) return refuse("a chunk's size has a CR that ends no line");
    left_ = size;
    state_ = size == 0 ? State::kTrailers : State::kChunk;
  } else if (line.empty()) {
    state_ = State::kOver;
  } else {
    trailer_bytes_ += line.size();
    if (trailer_bytes_ > kMaxTrailers) return refuse("the trailers are too long");
    if (const char* complaint = read_http_field(line, trailers_)) return refuse(complaint);
    const std::string& name = trailers_.back().name;
    if (name == "content-length" || name == "transfer-encoding" || name == "host")
      refuse("a trailer tells how the message is read");
  }
}

size_t HttpBodyReader::take_line(std::string_view bytes) {
  const size_t most = state_ == State::kTrailers ? kMaxTrailers : kMaxSizeLine;
  const size_t feed = bytes.find('\n');
  const size_t size = feed == bytes.npos ? bytes.size() : feed + 1;
  if (line_.size() + size > most + 2) {
    refuse("a line of a chunked body is too long");
    return 0;
  }
  line_.append(bytes.substr(0, size));
  if (feed == bytes.npos) return size;
  if (!line_.ends_with("\r\n")) {
    refuse("a line of a chunked body ends without CR");
    return 0;
  }
  const std::string line = std::exchange(line_, {});
  end_of_line(std::string_view(line).substr(0, line.size() - 2));
  return size;
}

std::optional<size_t> HttpBodyReader::read(std::string_view bytes, std::string& content) {
  size_t taken = 0;
  while (taken < bytes.size() && state_ != State::kOver && state_ != State::kBad) {
    const bool is_content = state_ == State::kCounted || state_ == State::kUntilClosed || state_ == State::kChunk;
    taken += is_content ? take_content(bytes.substr(taken), content) : take_line(bytes.substr(taken));
  }
  if (state_ == State::kBad) return std::nullopt;
  return taken;
}

std::string chunk_size_line(size_t size) {
  char digits[16];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, size, 16);
  return std::string(digits, end) + "\r\n";
}

std::string chunk_of(std::string_view content) {
  std::string chunk = chunk_size_line(content.size());
  chunk.reserve(content.size() + 24);
  return chunk.append(content).append("\r\n");
}

std::string last_chunk(const HttpFields& trailers) {
  std::string end = "0\r\n";
  for (const HttpField& field : trailers) end += field.name + ": " + field.value + "\r\n";
  return end + "\r\n";
}

}  // namespace bj
