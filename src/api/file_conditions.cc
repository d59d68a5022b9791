#include "api/file_conditions.h"

#include <array>
#include <ctime>
#include <optional>

namespace bj {
namespace {

constexpr const char* kDate = "%a, %d %b %Y %H:%M:%S GMT";
constexpr int64_t kSecond = 1'000'000;

std::optional<int64_t> seconds_of(std::string_view text) {
  std::tm parts{};
  const std::string date(text);
  const char* const end = ::strptime(date.c_str(), kDate, &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return ::timegm(&parts);
}

}  // namespace

std::string http_date(int64_t microseconds) {
  const std::time_t seconds = microseconds / kSecond;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 64> text{};
  return {text.data(), std::strftime(text.data(), text.size(), kDate, &parts)};
}

Condition condition_of(const Headers& request, int64_t modified_us) {
  const int64_t modified = modified_us / kSecond;
  const std::optional<int64_t> unmodified = seconds_of(request.get("If-Unmodified-Since"));
  if (unmodified && modified > *unmodified) return Condition::kFailed;
  const std::optional<int64_t> since = seconds_of(request.get("If-Modified-Since"));
  return since && modified <= *since ? Condition::kNotModified : Condition::kHolds;
}

bool range_counts(const Headers& request, int64_t modified_us) {
  const std::string_view named = request.get("If-Range");
  return named.empty() || seconds_of(named) == modified_us / kSecond;
}

}  // namespace bj
