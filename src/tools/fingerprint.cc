#include "tools/fingerprint.h"

#include <fmt/format.h>
#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <array>
#include <memory>

#include "tools/python_text.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr size_t kShortHash = 12;

using Digest = std::array<unsigned char, SHA256_DIGEST_LENGTH>;

Digest sha256(std::string_view bytes) {
  Digest digest{};
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  return digest;
}

std::string decimal(const Digest& digest) {
  const std::unique_ptr<BIGNUM, decltype(&BN_free)> number(
      BN_bin2bn(digest.data(), static_cast<int>(digest.size()), nullptr), BN_free);
  char* text = BN_bn2dec(number.get());
  std::string result = text == nullptr ? "" : text;
  OPENSSL_free(text);
  return result;
}

std::string repr_or_empty(PackageKind kind, const Requirements& requirements) {
  return requirements.empty() ? "" : requirements_repr(kind, requirements);
}

}  // namespace

std::string sha256_hex(std::string_view bytes) {
  const Digest digest = sha256(bytes);
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

std::string canonical_config(SandboxType type, const std::optional<std::string>& organization_id,
                             const json::object& config) {
  const json::object object{{"type", sandbox_type_name(type)},
                            {"organization_id", organization_id ? json::value(*organization_id) : json::value(nullptr)},
                            {"config", config}};
  return python_json(object, KeyOrder::kSorted, JsonSpacing::kCompact);
}

std::string fingerprint(SandboxType type, const std::optional<std::string>& organization_id,
                        const json::object& config) {
  return decimal(sha256(canonical_config(type, organization_id, config)));
}

std::string tool_hash(const HashedTool& tool) {
  std::string dependencies;
  if (!tool.pip.empty()) dependencies = "pip:" + requirements_repr(PackageKind::kPip, tool.pip);
  if (!tool.npm.empty()) {
    if (!dependencies.empty()) dependencies += ';';
    dependencies += "npm:" + requirements_repr(PackageKind::kNpm, tool.npm);
  }
  const std::string text = tool.source_code + "|" + tool.source_type.value_or("") + "|" + dependencies;
  return sha256_hex(text).substr(0, kShortHash);
}

std::string modal_app_name(std::string_view tool_name, std::string_view organization_id) {
  return fmt::format("{}_{}", python_prefix(tool_name, 48), python_prefix(organization_id, 15));
}

std::string modal_version_hash(const HashedTool& tool, std::string_view config_fingerprint) {
  const std::string text = fmt::format("{}|{}|{}|{}", tool.source_code, repr_or_empty(PackageKind::kPip, tool.pip),
                                       repr_or_empty(PackageKind::kNpm, tool.npm), config_fingerprint);
  return sha256_hex(text).substr(0, kShortHash);
}

std::string modal_version_app_name(std::string_view tool_id, std::string_view version_hash) {
  const std::string name = fmt::format("{}-{}", python_prefix(tool_id, 40), version_hash);
  return std::string(python_prefix(name, 63));
}

}  // namespace bj
