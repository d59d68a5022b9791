// Letta's format of a secret at rest: base64 of salt (16) | iv (12) | ciphertext | tag (16), AES-256-GCM without
// additional data, key = PBKDF2-HMAC-SHA256(master key, salt, 100000 iterations). Pure functions, and a cache for the
// slow one.
#pragma once

#include <list>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/secret.h"

namespace bj {

// Derived keys, the 256 used last. Safe for many threads; the derivation runs outside the lock.
class LettaKeyCache {
 public:
  Result<Secret> derive(const Secret& master, std::string_view salt);

 private:
  struct Entry {
    std::string digest;  // of master and salt
    Secret key;
  };
  std::mutex mutex_;
  std::list<Entry> newest_first_;
  std::map<std::string, std::list<Entry>::iterator, std::less<>> by_digest_;
};

Result<std::string> letta_encrypt(LettaKeyCache& cache, const Secret& master, const Secret& plain);
// With the given salt (16 bytes) and iv (12 bytes): what the function above does with random ones.
Result<std::string> letta_encrypt_with(LettaKeyCache& cache, const Secret& master, const Secret& plain,
                                       std::string_view salt, std::string_view iv);
// kInvalid "Failed to decrypt data: …".
Result<Secret> letta_decrypt(LettaKeyCache& cache, const Secret& master, std::string_view stored);
// Letta's guess whether a text is a ciphertext of its own.
bool letta_is_encrypted(std::string_view text);

}  // namespace bj
