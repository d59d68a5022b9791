#include "api/file_range.h"

#include <algorithm>
#include <charconv>

namespace bj {
namespace {

std::optional<uint64_t> number(std::string_view text) {
  uint64_t value = 0;
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (bad != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<ByteRange> range_of(std::string_view header, uint64_t size) {
  const ByteRange whole{0, size};
  constexpr std::string_view kUnit = "bytes=";
  if (!header.starts_with(kUnit)) return whole;
  header.remove_prefix(kUnit.size());
  const size_t dash = header.find('-');
  if (dash == std::string_view::npos || header.find(',') != std::string_view::npos) return whole;
  const std::optional<uint64_t> first = number(header.substr(0, dash));
  const std::optional<uint64_t> last = number(header.substr(dash + 1));
  if (!first && dash == 0 && last) {  // the end
    if (*last == 0 || size == 0) return std::nullopt;
    const uint64_t length = std::min(*last, size);
    return ByteRange{size - length, length};
  }
  const bool open = dash + 1 == header.size();
  if (!first || (!last && !open) || (last && *last < *first)) return whole;
  if (*first >= size) return std::nullopt;
  const uint64_t end = open ? size - 1 : std::min(*last, size - 1);
  return ByteRange{*first, end - *first + 1};
}

}  // namespace bj
