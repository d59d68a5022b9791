#include "api/rfc3339.h"

#include <cstdio>
#include <ctime>
#include <string_view>

namespace bj {

std::optional<int64_t> microseconds_of(const std::string& text) {
  std::tm parts{};
  int used = 0;
  if (std::sscanf(text.c_str(), "%4d-%2d-%2d%*1[Tt ]%2d:%2d:%2d%n", &parts.tm_year, &parts.tm_mon, &parts.tm_mday,
                  &parts.tm_hour, &parts.tm_min, &parts.tm_sec, &used) != 6 ||
      used == 0)
    return std::nullopt;
  parts.tm_year -= 1900;
  parts.tm_mon -= 1;
  int64_t time = int64_t{::timegm(&parts)} * 1'000'000;
  std::string_view rest = std::string_view(text).substr(static_cast<size_t>(used));
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    int64_t unit = 100'000;
    for (; !rest.empty() && rest.front() >= '0' && rest.front() <= '9'; rest.remove_prefix(1), unit /= 10)
      time += (rest.front() - '0') * unit;
  }
  if (rest == "Z" || rest == "z") return time;
  int hours = 0, minutes = 0;
  const std::string offset(rest);
  if (offset.size() != 6 || std::sscanf(offset.c_str() + 1, "%2d:%2d", &hours, &minutes) != 2) return std::nullopt;
  if (offset[0] != '+' && offset[0] != '-' && offset[0] != ' ') return std::nullopt;  // a plus that was decoded
  const int64_t shift = (int64_t{hours} * 60 + minutes) * 60 * 1'000'000;
  return offset[0] == '-' ? time + shift : time - shift;
}

}  // namespace bj
