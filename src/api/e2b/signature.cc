#include "api/e2b/signature.h"

#include <charconv>

#include "control/sandbox_tokens.h"
#include "store/crypto.h"

namespace bj::e2b {
namespace {

std::string_view text_of(const HttpRequest& request, std::string_view name) {
  const std::string* const value = request.query.find(name);
  return value == nullptr ? std::string_view() : std::string_view(*value);
}

}  // namespace

std::string signature_of(std::string_view path, FileOperation operation, std::string_view user, std::string_view token,
                         std::optional<std::string_view> expiration) {
  std::string text(path);
  text.append(operation == FileOperation::kRead ? ":read:" : ":write:").append(user).append(":").append(token);
  if (expiration) text.append(":").append(*expiration);
  const Result<std::string> hash = sha256(text);
  if (!hash) return {};
  std::string encoded = base64(*hash);
  while (encoded.ends_with('=')) encoded.pop_back();
  return "v1_" + encoded;
}

bool is_signed_with(const HttpRequest& request, FileOperation operation, std::string_view token) {
  const std::string_view given = text_of(request, "signature");
  const std::string_view expiration = text_of(request, "signature_expiration");
  const std::string right =
      signature_of(text_of(request, "path"), operation, text_of(request, "username"), token,
                   expiration.empty() ? std::optional<std::string_view>() : std::optional(expiration));
  return !right.empty() && SandboxTokens::same(given, right);
}

std::optional<std::string> signature_problem(const HttpRequest& request, FileOperation operation,
                                             std::string_view token, int64_t now_s) {
  if (text_of(request, "signature").empty()) return "missing signature query parameter";
  if (!is_signed_with(request, operation, token)) return "invalid signature";
  const std::string_view expiration = text_of(request, "signature_expiration");
  if (expiration.empty()) return std::nullopt;
  int64_t until = 0;
  const auto [end, bad] = std::from_chars(expiration.data(), expiration.data() + expiration.size(), until);
  if (bad != std::errc() || end != expiration.data() + expiration.size()) return "invalid signature expiration";
  if (until < now_s) return "signature is already expired";
  return std::nullopt;
}

}  // namespace bj::e2b
