// What must not come back into a sandbox: the values of credentials in every form of value_forms.h, each byte replaced
// by "*", so that lengths stay true. Looks through a stream in pieces of any size: what could be the beginning of a
// value is held back until it is known, everything else flows on at once.
#pragma once

#include <bitset>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/secret.h"
#include "egress/credential.h"

namespace bj {

// The texts that are looked for. Shared by the connections of a gate; not changed once made.
class ForbiddenTexts {
 public:
  explicit ForbiddenTexts(const GateCredentials& credentials);

  bool empty() const { return texts_.empty(); }
  // In a whole text.
  std::string redacted(std::string_view text) const;

 private:
  friend class Redactor;
  struct Text {
    Secret text;
    bool is_base64 = false;
  };
  // How many bytes at the beginning of `bytes` are to be replaced; 0: none.
  struct Match {
    size_t size = 0;
    size_t base64_size = 0;  // the letter behind so many, if it is one
  };
  Match match(std::string_view bytes) const;
  // Could a text begin here and go on behind the end?
  bool may_begin(std::string_view bytes) const;
  bool may_start(std::string_view bytes) const {
    const auto first = static_cast<uint8_t>(bytes[0]);
    return bytes.size() < 2 ? first_byte_[first] : first_two_[first * 256u + static_cast<uint8_t>(bytes[1])];
  }

  std::vector<Text> texts_;
  size_t longest_ = 0;
  std::bitset<256> first_byte_;
  std::bitset<65536> first_two_;
};

// One direction of one connection.
class Redactor {
 public:
  explicit Redactor(std::shared_ptr<const ForbiddenTexts> texts) : texts_(std::move(texts)) {}
  ~Redactor();

  // Appends to `out` what is known by now.
  void pass(std::string_view piece, std::string& out);
  // Nothing that was passed so far goes on: the rest.
  void finish(std::string& out);

 private:
  void flow(std::string_view bytes, size_t until, std::string& out);

  std::shared_ptr<const ForbiddenTexts> texts_;
  std::string held_;
  size_t replaced_ = 0;                  // so many bytes from the beginning of held_ on are to be replaced
  std::optional<size_t> behind_base64_;  // and the one there, if it is a letter
};

}  // namespace bj
