#include "api/time_text.h"

#include <fmt/format.h>

#include <ctime>
#include <string_view>

namespace bj {

std::string time_text(int64_t microseconds) {
  const std::time_t seconds = microseconds / 1'000'000;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[32];
  const size_t size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  return fmt::format("{}.{:06}Z", std::string_view(text, size), microseconds % 1'000'000);
}

}  // namespace bj
