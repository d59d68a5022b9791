// A text that grows and may hold secrets: all memory it ever had is wiped when it is given back. For putting a message
// together; a finished secret is a Secret (secret.h).
#pragma once

#include <openssl/crypto.h>

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace bj {

class WipedText {
 public:
  WipedText() = default;
  explicit WipedText(std::string_view text) { append(text); }

  WipedText& append(std::string_view text) {
    bytes_.insert(bytes_.end(), text.begin(), text.end());
    return *this;
  }
  std::string_view view() const { return {bytes_.data(), bytes_.size()}; }
  size_t size() const { return bytes_.size(); }

 private:
  template <class T>
  struct Wiping {
    using value_type = T;
    T* allocate(size_t count) { return std::allocator<T>().allocate(count); }
    void deallocate(T* memory, size_t count) {
      OPENSSL_cleanse(memory, count * sizeof(T));
      std::allocator<T>().deallocate(memory, count);
    }
    bool operator==(const Wiping&) const { return true; }
  };

  std::vector<char, Wiping<char>> bytes_;  // not a string: that keeps short texts in itself
};

}  // namespace bj
