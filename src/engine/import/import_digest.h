// SHA-256 over a stream, as images write it: 64 lower-case hex digits.
#pragma once

#include <openssl/evp.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>

namespace bj {

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
    good_ = context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1;
  }

  void update(std::string_view data) {
    good_ = good_ && EVP_DigestUpdate(context_.get(), data.data(), data.size()) == 1;
  }

  // Once, at the end. Empty, which equals no digest, if the library failed.
  std::string hex() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
    unsigned size = 0;
    if (!good_ || EVP_DigestFinal_ex(context_.get(), bytes.data(), &size) != 1) return {};
    std::string text;
    for (unsigned i = 0; i < size; ++i) {
      text += "0123456789abcdef"[bytes[i] >> 4];
      text += "0123456789abcdef"[bytes[i] & 15];
    }
    return text;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context_;
  bool good_ = false;
};

inline std::string sha256_hex(std::string_view data) {
  Sha256 hash;
  hash.update(data);
  return hash.hex();
}

}  // namespace bj
