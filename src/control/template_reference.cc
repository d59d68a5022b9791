#include "control/template_reference.h"

#include <openssl/sha.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

namespace bj {
namespace {

constexpr size_t kIdLength = 20;
constexpr size_t kLongestName = 128;
constexpr std::string_view kIdAlphabet = "0123456789abcdefghijklmnopqrstuvwxyz";

bool made_of(std::string_view text, std::string_view more) {
  return !text.empty() && text.size() <= kLongestName && std::all_of(text.begin(), text.end(), [more](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || more.find(c) != std::string_view::npos;
  });
}

bool looks_like_uuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    const bool hex = (text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f');
    if (dash ? text[i] != '-' : !hex) return false;
  }
  return true;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return result;
}

}  // namespace

Result<void> check_tag(std::string_view tag) {
  if (made_of(tag, "-_.") && !looks_like_uuid(tag)) return {};
  return fail(Code::kInvalid, "a tag is made of a-z, 0-9, '-', '_' and '.', at most 128, and is no UUID");
}

Result<TemplateReference> parse_template_reference(std::string_view text) {
  const std::string all = lower(text);
  TemplateReference reference;
  const size_t slash = all.find('/');
  if (slash != std::string::npos) reference.space = all.substr(0, slash);
  const std::string rest = slash == std::string::npos ? all : all.substr(slash + 1);
  const size_t colon = rest.find(':');
  reference.name = rest.substr(0, colon);
  if (colon != std::string::npos) {
    reference.tag = rest.substr(colon + 1);
    BJ_CHECK(check_tag(reference.tag));
  }
  const bool sound = (slash == std::string::npos || made_of(reference.space, "-_")) && made_of(reference.name, "-_.");
  if (sound) return reference;
  return fail(Code::kInvalid,
              "a template is named [namespace/]name[:tag], of a-z, 0-9, '-', '_' and '.', at most 128 each");
}

std::string new_template_id() {
  std::string id;
  while (id.size() < kIdLength) {
    std::array<uint8_t, 32> bytes{};
    if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) std::abort();
    for (const uint8_t byte : bytes) {
      if (byte < 252 && id.size() < kIdLength) id += kIdAlphabet[byte % 36];  // 252 = 7 * 36: all are as likely
    }
  }
  return id;
}

bool is_template_id(std::string_view text) { return text.size() == kIdLength && made_of(text, ""); }

std::string machine_template_id(std::string_view name) {
  const std::string text = "belljar template " + std::string(name);
  std::array<uint8_t, SHA256_DIGEST_LENGTH> hash{};
  ::SHA256(reinterpret_cast<const uint8_t*>(text.data()), text.size(), hash.data());
  std::string id;
  for (size_t i = 0; i < kIdLength; ++i) id += kIdAlphabet[hash[i] % 36];
  return id;
}

}  // namespace bj
