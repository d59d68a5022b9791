#include "engine/import/import_entry.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace bj {
namespace {

constexpr size_t kLongestName = 255, kLongestPath = 4096;
constexpr std::array kRootNames = {"bin",  "boot", "dev", "etc",  "home", "lib", "lib64", "mnt", "opt",
                                   "proc", "root", "run", "sbin", "srv",  "sys", "usr",   "var"};

}  // namespace

Result<PathParts> split_entry_path(std::string_view path, const ImportLimits& limits) {
  if (path.size() > kLongestPath) return fail(Code::kInvalid, fmt::format("has a name of {} bytes", path.size()));
  if (path.find('\0') != std::string_view::npos) return fail(Code::kInvalid, "has a NUL in its name");
  PathParts parts;
  while (!path.empty()) {
    const size_t slash = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, slash);
    path.remove_prefix(std::min(slash + 1, path.size()));
    if (part.empty() || part == ".") continue;
    if (part == "..") return fail(Code::kInvalid, "has \"..\" in its name");
    if (part.size() > kLongestName) return fail(Code::kInvalid, "has a name that no filesystem takes (over 255 bytes)");
    parts.emplace_back(part);
  }
  if (parts.size() > limits.max_depth) {
    return fail(Code::kInvalid, fmt::format("lies more than {} directories deep", limits.max_depth));
  }
  return parts;
}

std::string joined(const PathParts& parts) { return fmt::format("{}", fmt::join(parts, "/")); }

std::string printable(std::string_view text, size_t limit) {
  std::string out;
  for (const char c : text) {
    if (out.size() >= limit) return out + "...";
    if (c >= ' ' && c <= '~') {
      out += c;
    } else {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

bool is_root_directory_name(std::string_view name) {
  return std::find(kRootNames.begin(), kRootNames.end(), name) != kRootNames.end();
}

}  // namespace bj
