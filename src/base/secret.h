// The owner of a text that must not leak: an environment variable's value, a key. Its memory is wiped when it goes; it
// is copied only by name, and nothing can print, format or log it: operator<< is deleted, fmt has no formatter for it.
// Whoever calls reveal() is answerable for where the text goes; `grep reveal` finds them all.
#pragma once

#include <openssl/crypto.h>

#include <cstring>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace bj {

class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string_view text) : data_(new char[text.size()]), size_(text.size()) {
    if (!text.empty()) std::memcpy(data_.get(), text.data(), text.size());
  }
  // Takes the text over: what is left of the string is wiped.
  static Secret take(std::string&& text) {
    Secret secret{std::string_view(text)};
    OPENSSL_cleanse(text.data(), text.size());
    text.clear();
    return secret;
  }
  Secret(Secret&& other) noexcept : data_(std::move(other.data_)), size_(std::exchange(other.size_, 0)) {}
  Secret& operator=(Secret&& other) noexcept {
    if (this == &other) return *this;
    wipe();
    data_ = std::move(other.data_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;
  ~Secret() { wipe(); }

  Secret copy() const { return Secret(reveal()); }
  std::string_view reveal() const { return {data_.get(), size_}; }
  bool empty() const { return size_ == 0; }
  // In a time that doesn't depend on where they differ.
  bool same_as(const Secret& other) const {
    return size_ == other.size_ && (size_ == 0 || CRYPTO_memcmp(data_.get(), other.data_.get(), size_) == 0);
  }

  friend std::ostream& operator<<(std::ostream&, const Secret&) = delete;

 private:
  void wipe() {
    if (data_) OPENSSL_cleanse(data_.get(), size_);
  }

  std::unique_ptr<char[]> data_;
  size_t size_ = 0;
};

}  // namespace bj
