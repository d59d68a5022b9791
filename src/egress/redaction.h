// What must not come back into a sandbox: the values of credentials in every form of value_forms.h, each byte replaced
// by "*", so that lengths stay true. Looks through a stream in pieces of any size.
//
// Code inside can let a server repeat its guesses and watch what comes back, and when. So nothing that passes may tell
// that a value has only begun: how much of a stream waits depends on where its lines end and on how long the values
// are, never on what they are, and the time that is spent on it hardly does (see kMostWindow).
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
  // Texts are found by a hash of their first bytes, which is carried along byte by byte: whether these bytes are right
  // to the last or to the first, it takes the same time. Longer than this they can't be guessed at once.
  static constexpr size_t kMostWindow = 32;
  struct Text {
    Secret text;
    bool is_base64 = false;
    uint64_t hash = 0;  // of its first window_ bytes
  };
  // How many bytes at the beginning of `bytes` are to be replaced; 0: none.
  struct Match {
    size_t size = 0;
    size_t base64_size = 0;  // the letter behind so many, if it is one
  };
  void add(const GateCredential& credential);
  void set_hashes();
  Match match(uint64_t hash, std::string_view bytes) const;
  // Of the first window_ bytes; and the next one's, where `old` leaves and `fresh` comes.
  uint64_t hash_of(std::string_view bytes) const;
  uint64_t rolled(uint64_t hash, char old, char fresh) const;
  bool may_start(uint64_t hash) const { return slots_[hash >> 48]; }
  // How much of a stream that goes on behind these bytes can pass.
  size_t known_part(std::string_view bytes) const;

  std::vector<Text> texts_;  // by hash
  size_t longest_ = 0, window_ = kMostWindow;
  bool is_visible_ = true;    // no text has a byte that visible values never have
  uint64_t factor_, oldest_;  // of the hash: random, so that nobody can work with it; and its power for the oldest byte
  std::bitset<65536> slots_;
};

// One direction of one connection.
class Redactor {
 public:
  explicit Redactor(std::shared_ptr<const ForbiddenTexts> texts) : texts_(std::move(texts)) {}
  ~Redactor();

  // Appends to `out` what is known by now.
  void pass(std::string_view piece, std::string& out);
  // Nothing that was passed so far goes on: the rest. What comes next is another text.
  void finish(std::string& out);

 private:
  void flow(std::string_view bytes, size_t until, std::string& out);

  std::shared_ptr<const ForbiddenTexts> texts_;
  std::string held_;
  size_t replaced_ = 0;                  // so many bytes from the beginning of held_ on are to be replaced
  std::optional<size_t> behind_base64_;  // and the one there, if it is a letter
};

}  // namespace bj
