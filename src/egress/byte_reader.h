// Reads numbers of network order and pieces off the front of bytes; after reading too far it is failed and gives zeros.
#pragma once

#include <cstdint>
#include <string_view>

namespace bj {

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : left_(bytes) {}

  uint8_t u8() { return static_cast<uint8_t>(number(1)); }
  uint16_t u16() { return static_cast<uint16_t>(number(2)); }
  uint32_t u24() { return number(3); }

  std::string_view take(size_t size) {
    if (size > left_.size()) failed_ = true;
    if (failed_) return {};
    const std::string_view piece = left_.substr(0, size);
    left_.remove_prefix(size);
    return piece;
  }

  std::string_view left() const { return left_; }
  bool at_end() const { return left_.empty(); }
  bool failed() const { return failed_; }

 private:
  uint32_t number(size_t size) {
    uint32_t value = 0;
    for (const char byte : take(size)) value = value << 8 | static_cast<uint8_t>(byte);
    return value;
  }

  std::string_view left_;
  bool failed_ = false;
};

}  // namespace bj
