// What proves that somebody may talk to a sandbox, or use a volume's files, without a key of its organization: tokens
// that are derived from one secret of this server and the id. They are stored nowhere, stay the same as long as the
// sandbox or volume lives, and no token says anything about another's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/secret.h"

namespace bj {

enum class TokenRights { kRead, kWrite };  // kWrite: and to read

class SandboxTokens {
 public:
  explicit SandboxTokens(Secret key) : key_(std::move(key)) {}
  // The secret lies in <data directory>/sandbox.key, made at the first start.
  static Result<SandboxTokens> open(const std::string& data_directory);

  // For its files and processes.
  std::string control(std::string_view sandbox) const { return derived("control", sandbox); }
  // For its ports, all of them.
  std::string traffic(std::string_view sandbox) const { return derived("traffic", sandbox); }
  // For one port, until then (seconds since the epoch; 0: for ever): "<until>.<proof>".
  std::string port(std::string_view sandbox, uint16_t port, int64_t until) const;
  bool opens_port(std::string_view token, std::string_view sandbox, uint16_t port, int64_t now) const;

  // For a volume's files: "<organization>.<proof>", so that whose it is can be checked without a search.
  std::string volume(std::string_view organization, std::string_view volume, TokenRights rights) const;
  // Whose volume it is, if the token is one of that volume with these rights.
  std::optional<std::string> volume_owner(std::string_view token, std::string_view volume, TokenRights rights) const;

  // In a time that does not tell where they differ.
  static bool same(std::string_view left, std::string_view right);

 private:
  std::string derived(std::string_view purpose, std::string_view about) const;

  Secret key_;
};

}  // namespace bj
