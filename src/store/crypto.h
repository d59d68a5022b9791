// The few primitives that secrets and keys need, over OpenSSL's EVP. Pure but for random_bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/secret.h"

namespace bj {

inline constexpr size_t kAesKeyBytes = 32;
inline constexpr size_t kGcmIvBytes = 12;
inline constexpr size_t kGcmTagBytes = 16;

Result<std::string> random_bytes(size_t size);
std::string to_hex(std::string_view bytes);
Result<std::string> sha256(std::string_view text);  // 32 bytes

Result<Secret> hkdf_sha256(const Secret& key, std::string_view info, size_t size);
Result<Secret> pbkdf2_sha256(const Secret& password, std::string_view salt, int iterations, size_t size);

// Yields ciphertext | tag.
Result<std::string> aes_gcm_seal(const Secret& key, std::string_view iv, std::string_view additional,
                                 std::string_view plain);
// kInvalid if anything of it was changed.
Result<Secret> aes_gcm_open(const Secret& key, std::string_view iv, std::string_view additional,
                            std::string_view sealed);

std::string base64(std::string_view bytes);
std::string base64_url(std::string_view bytes);  // without padding
// As Python's b64decode reads it: characters outside the alphabet are skipped, what follows the padding is ignored,
// text that is not ASCII or ends within a group is no base64.
std::optional<std::string> lenient_base64(std::string_view text);

}  // namespace bj
