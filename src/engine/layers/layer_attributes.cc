#include "engine/layers/layer_attributes.h"

#include <sys/xattr.h>

#include <string>
#include <string_view>

namespace bj {
namespace {

constexpr std::string_view kOverlayPrefix = "user.overlay.";
constexpr std::string_view kEscapedPrefix = "user.overlay.overlay.";  // what programs inside called user.overlay.*
constexpr size_t kLargestValue = 65536;

bool is_kept(std::string_view name) {
  if (!name.starts_with("user.")) return false;
  return !name.starts_with(kOverlayPrefix) || name == kOpaqueAttribute || name.starts_with(kEscapedPrefix);
}

// False: there was no room for it.
Result<bool> copy_one(int from, int to, const std::string& name) {
  std::string value(kLargestValue, '\0');
  const ssize_t size = ::fgetxattr(from, name.c_str(), value.data(), value.size());
  if (size < 0) return fail_errno("getxattr");
  value.resize(static_cast<size_t>(size));
  if (::fsetxattr(to, name.c_str(), value.data(), value.size(), 0) == 0) return true;
  if (name == kOpaqueAttribute) return fail_errno("setxattr(opaque)");  // what was deleted would come back
  return false;
}

}  // namespace

Result<uint64_t> copy_layer_attributes(int from, int to) {
  const ssize_t size = ::flistxattr(from, nullptr, 0);
  if (size <= 0) return 0;  // none, or a filesystem without
  std::string names(static_cast<size_t>(size), '\0');
  const ssize_t got = ::flistxattr(from, names.data(), names.size());
  if (got < 0) return fail_errno("listxattr");
  uint64_t left_out = 0;
  for (size_t at = 0; at < static_cast<size_t>(got);) {
    const std::string name(names.c_str() + at);
    at += name.size() + 1;
    if (!is_kept(name)) continue;
    BJ_TRY(const bool copied, copy_one(from, to, name));
    if (!copied) ++left_out;
  }
  return left_out;
}

}  // namespace bj
