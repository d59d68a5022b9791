#include "api/e2b/log_level.h"

#include <algorithm>
#include <array>

namespace bj::e2b {
namespace {

constexpr std::array<std::string_view, 5> kLevels = {"", "debug", "info", "warn", "error"};

}  // namespace

Result<void> check_log_level(const std::string& level) {
  if (std::find(kLevels.begin(), kLevels.end(), level) != kLevels.end()) return {};
  return fail(Code::kInvalid, "level must be debug, info, warn or error");
}

bool is_at_least(std::string_view level, std::string_view wanted) {
  return std::find(kLevels.begin(), kLevels.end(), level) >= std::find(kLevels.begin(), kLevels.end(), wanted);
}

}  // namespace bj::e2b
