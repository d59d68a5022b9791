// Where the frames of a WebSocket end, found while its bytes pass. Nothing is changed and nothing refused: a server
// that sends something else is looked through as one endless frame. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace bj {

class WebSocketFrames {
 public:
  // How many of the bytes belong to the frame that is passing; ended() tells if it is whole with them.
  size_t pass(std::string_view bytes) {
    size_t taken = 0;
    ended_ = false;
    while (taken < bytes.size() && !has_head()) {
      head_[head_size_++] = static_cast<uint8_t>(bytes[taken++]);
      if (has_head()) left_ = payload_size();
    }
    if (!has_head()) return taken;
    const auto size = static_cast<size_t>(std::min<uint64_t>(left_, bytes.size() - taken));
    left_ -= size;
    ended_ = left_ == 0;
    if (ended_) head_size_ = 0;
    return taken + size;
  }
  bool ended() const { return ended_; }

 private:
  size_t extra_size() const { return (head_[1] & 0x7F) == 126 ? 2 : (head_[1] & 0x7F) == 127 ? 8 : 0; }
  bool has_head() const { return head_size_ >= 2 && head_size_ == 2 + extra_size() + ((head_[1] & 0x80) != 0 ? 4 : 0); }
  uint64_t payload_size() const {
    if (extra_size() == 0) return head_[1] & 0x7F;
    uint64_t size = 0;
    for (size_t i = 0; i < extra_size(); ++i) size = size * 256 + head_[2 + i];
    return size;
  }

  uint8_t head_[14] = {};
  size_t head_size_ = 0;
  uint64_t left_ = 0;
  bool ended_ = false;
};

}  // namespace bj
