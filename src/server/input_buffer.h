// Bytes that arrived and were not taken yet, in one piece. Grows from its first 16 KiB to a bound.
#pragma once

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <cstring>
#include <string>
#include <string_view>

namespace bj {

class InputBuffer {
 public:
  explicit InputBuffer(size_t most) : most_(most), bytes_(std::min(most, kFirstSize), '\0') {}

  std::string_view view() const { return std::string_view(bytes_).substr(begin_, end_ - begin_); }
  bool empty() const { return begin_ == end_; }
  void consume(size_t count) { begin_ += count; }
  void commit(size_t count) { end_ += count; }

  // Where to read to; empty if the buffer is full.
  boost::asio::mutable_buffer room() {
    if (begin_ > 0) {
      std::memmove(bytes_.data(), bytes_.data() + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
    }
    if (end_ == bytes_.size()) bytes_.resize(std::min(most_, bytes_.size() * 2));
    return {bytes_.data() + end_, bytes_.size() - end_};
  }

 private:
  static constexpr size_t kFirstSize = 16 * 1024;
  size_t most_;
  std::string bytes_;
  size_t begin_ = 0, end_ = 0;
};

}  // namespace bj
