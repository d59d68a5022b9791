#include "control/sandbox_tokens.h"

#include <openssl/crypto.h>

#include <charconv>
#include <cstdlib>

#include "base/compact_id.h"
#include "base/id.h"
#include "store/crypto.h"
#include "store/key_file.h"

namespace bj {
namespace {

constexpr size_t kTokenBytes = 24;

}  // namespace

Result<SandboxTokens> SandboxTokens::open(const std::string& data_directory) {
  const std::string path = data_directory + "/sandbox.key";
  BJ_CHECK(ensure_key_file(path));
  BJ_TRY(std::vector<Secret> keys, read_key_file(path));
  if (keys.empty()) return fail(Code::kInvalid, path + " holds no key: remove it, and another is made");
  return SandboxTokens(std::move(keys.back()));
}

std::string SandboxTokens::derived(std::string_view purpose, std::string_view about) const {
  const Result<Secret> token =
      hkdf_sha256(key_, std::string("belljar sandbox ").append(purpose).append(" ").append(about), kTokenBytes);
  if (!token) std::abort();  // a token that is the same for all would be worse than no server
  return to_hex(token->reveal());
}

std::string SandboxTokens::port(std::string_view sandbox, uint16_t port, int64_t until) const {
  const std::string end = std::to_string(until);
  return end + "." + derived("port", std::string(sandbox) + " " + std::to_string(port) + " " + end);
}

bool SandboxTokens::opens_port(std::string_view token, std::string_view sandbox, uint16_t number, int64_t now) const {
  const size_t dot = token.find('.');
  int64_t until = 0;
  if (dot == std::string_view::npos) return false;
  const std::string_view digits = token.substr(0, dot);
  const auto [end, bad] = std::from_chars(digits.data(), digits.data() + digits.size(), until);
  if (bad != std::errc() || end != digits.data() + digits.size() || until < 0) return false;
  return same(token, port(sandbox, number, until)) && (until == 0 || now < until);
}

std::string SandboxTokens::volume(std::string_view organization, std::string_view volume, TokenRights rights) const {
  const char* const purpose = rights == TokenRights::kWrite ? "volume-writer" : "volume-reader";
  return std::string(organization)
      .append(".")
      .append(derived(purpose, std::string(organization) + " " + std::string(volume)));
}

std::optional<std::string> SandboxTokens::volume_owner(std::string_view token, std::string_view volume_id,
                                                       TokenRights rights) const {
  const std::string owner(token.substr(0, token.find('.')));
  // Both come from clients; only what can be one is worth a derivation.
  if (!is_id("org", owner) || !is_compact_id("vol", volume_id)) return std::nullopt;
  const bool writes = same(token, volume(owner, volume_id, TokenRights::kWrite));
  const bool reads = rights == TokenRights::kRead && same(token, volume(owner, volume_id, TokenRights::kRead));
  return writes || reads ? std::optional(owner) : std::nullopt;
}

bool SandboxTokens::same(std::string_view left, std::string_view right) {
  return left.size() == right.size() && CRYPTO_memcmp(left.data(), right.data(), left.size()) == 0;
}

}  // namespace bj
