#include "store/crypto.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include <array>
#include <memory>

namespace bj {
namespace {

const unsigned char* bytes_of(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }
unsigned char* bytes_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

tl::unexpected<Error> fail_crypto(const char* call) { return fail(Code::kInternal, std::string("OpenSSL: ") + call); }

struct FreeCipher {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using Cipher = std::unique_ptr<EVP_CIPHER_CTX, FreeCipher>;

// Looked up once: OpenSSL's search for an implementation takes longer than the work.
const EVP_CIPHER* aes_256_gcm() {
  static EVP_CIPHER* const cipher = EVP_CIPHER_fetch(nullptr, "AES-256-GCM", nullptr);
  return cipher;
}
const EVP_MD* sha_256() {
  static EVP_MD* const digest = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  return digest;
}

Result<void> check_sizes(const Secret& key, std::string_view iv) {
  if (key.reveal().size() != kAesKeyBytes || iv.size() != kGcmIvBytes)
    return fail(Code::kInternal, "AES-256-GCM takes 32 bytes of key and 12 of iv");
  return {};
}

std::string encode(std::string_view bytes, const char* alphabet, bool pad) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t have = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t j = 0; j < 3; j++) group = group << 8 | (j < have ? bytes_of(bytes)[i + j] : 0u);
    for (size_t j = 0; j < 4; j++) {
      if (j <= have) {
        text += alphabet[group >> (18 - 6 * j) & 63];
      } else if (pad) {
        text += '=';
      }
    }
  }
  return text;
}

int base64_digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  return c == '/' ? 63 : -1;
}

}  // namespace

Result<std::string> random_bytes(size_t size) {
  std::string bytes(size, '\0');
  if (RAND_bytes(bytes_of(bytes), static_cast<int>(size)) != 1) return fail_crypto("RAND_bytes");
  return bytes;
}

std::string to_hex(std::string_view bytes) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const unsigned char byte : bytes) {
    text += kHex[byte >> 4];
    text += kHex[byte & 15];
  }
  return text;
}

Result<std::string> sha256(std::string_view text) {
  std::string digest(32, '\0');
  if (EVP_Digest(text.data(), text.size(), bytes_of(digest), nullptr, sha_256(), nullptr) != 1)
    return fail_crypto("SHA-256");
  return digest;
}

Result<Secret> hkdf_sha256(const Secret& key, std::string_view info, size_t size) {
  const std::unique_ptr<EVP_KDF, void (*)(EVP_KDF*)> kdf(EVP_KDF_fetch(nullptr, "HKDF", nullptr), EVP_KDF_free);
  const std::unique_ptr<EVP_KDF_CTX, void (*)(EVP_KDF_CTX*)> context(EVP_KDF_CTX_new(kdf.get()), EVP_KDF_CTX_free);
  std::string digest = "SHA256";
  std::string_view master = key.reveal();
  OSSL_PARAM params[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest.data(), 0),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, const_cast<char*>(master.data()), master.size()),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, const_cast<char*>(info.data()), info.size()),
      OSSL_PARAM_construct_end()};
  std::string derived(size, '\0');
  if (!context || EVP_KDF_derive(context.get(), bytes_of(derived), size, params) != 1) return fail_crypto("HKDF");
  return Secret::take(std::move(derived));
}

Result<Secret> pbkdf2_sha256(const Secret& password, std::string_view salt, int iterations, size_t size) {
  const std::string_view text = password.reveal();
  std::string derived(size, '\0');
  if (PKCS5_PBKDF2_HMAC(text.data(), static_cast<int>(text.size()), bytes_of(salt), static_cast<int>(salt.size()),
                        iterations, sha_256(), static_cast<int>(size), bytes_of(derived)) != 1)
    return fail_crypto("PBKDF2");
  return Secret::take(std::move(derived));
}

Result<std::string> aes_gcm_seal(const Secret& key, std::string_view iv, std::string_view additional,
                                 std::string_view plain) {
  BJ_CHECK(check_sizes(key, iv));
  const Cipher context(EVP_CIPHER_CTX_new());
  std::string sealed(plain.size() + kGcmTagBytes, '\0');
  int length = 0;
  const bool good =
      context &&
      EVP_EncryptInit_ex2(context.get(), aes_256_gcm(), bytes_of(key.reveal()), bytes_of(iv), nullptr) == 1 &&
      (additional.empty() || EVP_EncryptUpdate(context.get(), nullptr, &length, bytes_of(additional),
                                               static_cast<int>(additional.size())) == 1) &&
      (plain.empty() || EVP_EncryptUpdate(context.get(), bytes_of(sealed), &length, bytes_of(plain),
                                          static_cast<int>(plain.size())) == 1) &&
      EVP_EncryptFinal_ex(context.get(), bytes_of(sealed) + plain.size(), &length) == 1 &&
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, kGcmTagBytes, sealed.data() + plain.size()) == 1;
  if (!good) return fail_crypto("AES-256-GCM");
  return sealed;
}

Result<Secret> aes_gcm_open(const Secret& key, std::string_view iv, std::string_view additional,
                            std::string_view sealed) {
  BJ_CHECK(check_sizes(key, iv));
  if (sealed.size() < kGcmTagBytes) return fail(Code::kInvalid, "the ciphertext is cut short");
  const size_t size = sealed.size() - kGcmTagBytes;
  std::string tag(sealed.substr(size));
  std::string plain(size + 1, '\0');  // one more than needed, so that there is always somewhere to point
  const Cipher context(EVP_CIPHER_CTX_new());
  int length = 0;
  const bool good =
      context &&
      EVP_DecryptInit_ex2(context.get(), aes_256_gcm(), bytes_of(key.reveal()), bytes_of(iv), nullptr) == 1 &&
      (additional.empty() || EVP_DecryptUpdate(context.get(), nullptr, &length, bytes_of(additional),
                                               static_cast<int>(additional.size())) == 1) &&
      (size == 0 ||
       EVP_DecryptUpdate(context.get(), bytes_of(plain), &length, bytes_of(sealed), static_cast<int>(size)) == 1) &&
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, kGcmTagBytes, tag.data()) == 1 &&
      EVP_DecryptFinal_ex(context.get(), bytes_of(plain) + size, &length) == 1;
  Secret secret(std::string_view(plain).substr(0, size));
  OPENSSL_cleanse(plain.data(), plain.size());
  if (!good) return fail(Code::kInvalid, "the ciphertext does not belong to this key and place, or was changed");
  return secret;
}

std::string base64(std::string_view bytes) {
  return encode(bytes, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", true);
}
std::string base64_url(std::string_view bytes) {
  return encode(bytes, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", false);
}

std::optional<std::string> lenient_base64(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  int in_group = 0;
  int pads = 0;
  uint32_t bits = 0;
  bool done = false;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 128) return std::nullopt;
    if (done) continue;
    if (c == '=') {
      if (in_group >= 2 && in_group + ++pads >= 4) done = true;
      continue;
    }
    const int digit = base64_digit(c);
    if (digit < 0) continue;
    pads = 0;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    if (in_group > 0) bytes += static_cast<char>(bits >> (6 - 2 * in_group) & 0xff);
    in_group = (in_group + 1) % 4;
  }
  if (!done && in_group != 0) return std::nullopt;
  return bytes;
}

}  // namespace bj
