#include "store/letta_secret.h"

#include <array>

#include "store/crypto.h"

namespace bj {
namespace {

constexpr size_t kSaltBytes = 16;
constexpr size_t kOverhead = kSaltBytes + kGcmIvBytes + kGcmTagBytes;
constexpr int kIterations = 100'000;
constexpr size_t kMostKeys = 256;

// How well-known keys begin that people store before they switch encryption on.
constexpr std::array<std::string_view, 17> kClearPrefixes = {"sk-",   "pk-",   "api-", "key-", "token-", "Bearer ",
                                                             "xoxb-", "xoxp-", "ghp_", "gho_", "ghu_",   "ghs_",
                                                             "ghr_",  "AKIA",  "ABIA", "ACCA", "ASIA"};

tl::unexpected<Error> fail_decrypt(const std::string& why) {
  return fail(Code::kInvalid, "Failed to decrypt data: " + why);
}

}  // namespace

Result<Secret> LettaKeyCache::derive(const Secret& master, std::string_view salt) {
  // The salt has a fixed length, so the two can't be confused.
  std::string joined;
  joined.reserve(salt.size() + master.reveal().size());  // grown, it would leave a copy behind
  joined.append(salt).append(master.reveal());
  const Secret both = Secret::take(std::move(joined));
  BJ_TRY(const std::string digest, sha256(both.reveal()));
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = by_digest_.find(digest); found != by_digest_.end()) {
      newest_first_.splice(newest_first_.begin(), newest_first_, found->second);
      return found->second->key.copy();
    }
  }
  BJ_TRY(Secret key, pbkdf2_sha256(master, salt, kIterations, kAesKeyBytes));
  const std::lock_guard lock(mutex_);
  if (!by_digest_.contains(digest)) {
    newest_first_.push_front({digest, key.copy()});
    by_digest_.emplace(digest, newest_first_.begin());
    if (newest_first_.size() > kMostKeys) {
      by_digest_.erase(newest_first_.back().digest);
      newest_first_.pop_back();
    }
  }
  return key;
}

Result<std::string> letta_encrypt_with(LettaKeyCache& cache, const Secret& master, const Secret& plain,
                                       std::string_view salt, std::string_view iv) {
  if (salt.size() != kSaltBytes) return fail(Code::kInternal, "Letta's salt has 16 bytes");
  BJ_TRY(const Secret key, cache.derive(master, salt));
  BJ_TRY(const std::string sealed, aes_gcm_seal(key, iv, {}, plain.reveal()));
  return base64(std::string(salt) + std::string(iv) + sealed);
}

Result<std::string> letta_encrypt(LettaKeyCache& cache, const Secret& master, const Secret& plain) {
  BJ_TRY(const std::string salt, random_bytes(kSaltBytes));
  BJ_TRY(const std::string iv, random_bytes(kGcmIvBytes));
  return letta_encrypt_with(cache, master, plain, salt, iv);
}

Result<Secret> letta_decrypt(LettaKeyCache& cache, const Secret& master, std::string_view stored) {
  const auto bytes = lenient_base64(stored);
  if (!bytes) return fail_decrypt("it is no base64");
  if (bytes->size() < kOverhead) return fail_decrypt("it is too short");  // before the slow part
  const std::string_view all = *bytes;
  BJ_TRY(const Secret key, cache.derive(master, all.substr(0, kSaltBytes)));
  auto plain = aes_gcm_open(key, all.substr(kSaltBytes, kGcmIvBytes), {}, all.substr(kSaltBytes + kGcmIvBytes));
  if (!plain) return fail_decrypt(plain.error().what);
  return std::move(*plain);
}

bool letta_is_encrypted(std::string_view text) {
  for (const std::string_view prefix : kClearPrefixes)
    if (text.starts_with(prefix)) return false;
  const auto bytes = lenient_base64(text);
  return bytes && bytes->size() > kOverhead;
}

}  // namespace bj
