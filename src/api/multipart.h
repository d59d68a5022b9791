// The parts of a multipart/form-data body as its bytes come, in constant memory. Pure: it is fed and asked.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace bj {

// The boundary of "multipart/form-data; boundary=..."; nothing: it is no such type.
std::optional<std::string> multipart_boundary(std::string_view content_type);

struct PartHead {
  std::string name;
  std::optional<std::string> file_name;
};

class MultipartReader {
 public:
  enum class Event { kNeedMore, kPart, kData, kPartEnd, kEnd };

  explicit MultipartReader(const std::string& boundary) : delimiter_("\r\n--" + boundary), bytes_("\r\n") {}

  void feed(std::string_view bytes) { bytes_ += bytes; }
  // What comes next: kPart: head() says which; kData: data() is more of it. kInvalid: malformed.
  Result<Event> next();
  const PartHead& head() const { return head_; }
  std::string& data() { return data_; }

 private:
  enum class State { kPreamble, kDelimiter, kHeaders, kBody, kOver };
  Result<Event> in_headers();
  Event in_body();

  std::string delimiter_;
  std::string bytes_;  // not taken yet
  State state_ = State::kPreamble;
  PartHead head_;
  std::string data_;
};

}  // namespace bj
