#include "engine/java_keystore.h"

#include <openssl/sha.h>

#include <cstdint>

namespace bj {
namespace {

constexpr std::string_view kMagicAndVersion("\xFE\xED\xFE\xED\0\0\0\2", 8);
constexpr std::string_view kPassword = "changeit";  // of every Java's own file
constexpr size_t kHead = 12;                        // magic, version, number of entries

std::string big_endian(uint64_t value, size_t bytes) {
  std::string out;
  for (size_t i = bytes; i-- > 0;) out += static_cast<char>((value >> (8 * i)) & 0xFF);
  return out;
}

std::string text_of(std::string_view text) { return big_endian(text.size(), 2).append(text); }

// The password in UTF-16, a greeting, the contents.
std::string digest_of(std::string_view contents) {
  std::string all;
  for (const char c : kPassword) all.append({'\0', c});
  all.append("Mighty Aphrodite").append(contents);
  std::string digest(SHA_DIGEST_LENGTH, '\0');
  SHA1(reinterpret_cast<const unsigned char*>(all.data()), all.size(), reinterpret_cast<unsigned char*>(digest.data()));
  return digest;
}

}  // namespace

Result<std::string> with_trusted_certificate(std::string_view keystore, std::string_view alias,
                                             std::string_view certificate) {
  if (keystore.size() < kHead + SHA_DIGEST_LENGTH || !keystore.starts_with(kMagicAndVersion))
    return fail(Code::kInvalid, "this is no Java keystore of the format JKS");
  const std::string_view contents = keystore.substr(0, keystore.size() - SHA_DIGEST_LENGTH);
  if (keystore.substr(contents.size()) != digest_of(contents))
    return fail(Code::kInvalid, "the Java keystore has another password than Java's usual one");
  uint32_t count = 0;
  for (size_t i = 8; i < kHead; ++i) count = count * 256 + static_cast<uint8_t>(contents[i]);
  std::string out(kMagicAndVersion);
  out += big_endian(count + 1, 4);
  out.append(contents.substr(kHead));
  out += big_endian(2, 4) + text_of(alias) + big_endian(0, 8);  // a trusted certificate, its name, since when
  out += text_of("X.509") + big_endian(certificate.size(), 4);
  out.append(certificate);
  return out + digest_of(out);
}

}  // namespace bj
