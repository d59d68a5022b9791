// Cuts a stream of bytes between characters: the beginning of one is kept for the next piece. What is no UTF-8 becomes
// U+FFFD.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/utf8.h"

namespace bj {

class CharacterCutter {
 public:
  std::string feed(std::string_view bytes) {
    std::string all = std::move(kept_) + std::string(bytes);
    kept_.clear();
    size_t cut = all.size();
    for (size_t back = 1; back <= 3 && back <= all.size(); ++back) {
      const auto byte = static_cast<unsigned char>(all[all.size() - back]);
      if ((byte & 0xc0) == 0x80) continue;
      const size_t length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
      if (length > back) cut = all.size() - back;
      break;
    }
    kept_ = all.substr(cut);
    return valid_utf8(std::string_view(all).substr(0, cut));
  }
  std::string rest() { return valid_utf8(std::exchange(kept_, {})); }

 private:
  std::string kept_;
};

}  // namespace bj
