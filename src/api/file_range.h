// The Range header, of one range of bytes: "bytes=0-99", "bytes=100-", "bytes=-50".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace bj {

struct ByteRange {
  uint64_t first = 0;
  uint64_t length = 0;
};

// What of a file of `size` bytes is meant. Nothing: there is no such part. What is no range of bytes, or several, means
// the whole file, as the standard allows.
std::optional<ByteRange> range_of(std::string_view header, uint64_t size);

}  // namespace bj
