#include "control/expand_variables.h"

namespace bj {
namespace {

constexpr size_t kLongestResult = 1 << 20;

bool name_character(char c, bool first) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (!first && c >= '0' && c <= '9');
}

size_t name_end(std::string_view text, size_t from) {
  size_t end = from;
  while (end < text.size() && name_character(text[end], end == from)) ++end;
  return end;
}

std::string value_of(const std::string& name, const std::map<std::string, std::string>& variables) {
  const auto found = variables.find(name);
  return found == variables.end() ? std::string() : found->second;
}

// What stands between the braces; an unknown form stays as it is.
std::string braced(std::string_view inner, const std::map<std::string, std::string>& variables) {
  const size_t end = name_end(inner, 0);
  std::string value = value_of(std::string(inner.substr(0, end)), variables);
  const std::string_view rest = inner.substr(end);
  if (end > 0 && rest.empty()) return value;
  if (end > 0 && rest.starts_with(":-")) return value.empty() ? std::string(rest.substr(2)) : value;
  if (end > 0 && rest.starts_with(":+")) return value.empty() ? std::string() : std::string(rest.substr(2));
  return "${" + std::string(inner) + "}";
}

}  // namespace

std::string expand_variables(std::string_view text, const std::map<std::string, std::string>& variables) {
  std::string result;
  for (size_t at = 0; at < text.size() && result.size() <= kLongestResult;) {
    if (text[at] == '\\' && at + 1 < text.size() && text[at + 1] == '$') {
      result += '$';
      at += 2;
      continue;
    }
    const size_t close =
        text[at] == '$' && at + 1 < text.size() && text[at + 1] == '{' ? text.find('}', at) : std::string_view::npos;
    if (close != std::string_view::npos) {
      result += braced(text.substr(at + 2, close - at - 2), variables);
      at = close + 1;
      continue;
    }
    const size_t end = text[at] == '$' ? name_end(text, at + 1) : at;
    if (text[at] == '$' && end > at + 1) {
      result += value_of(std::string(text.substr(at + 1, end - at - 1)), variables);
      at = end;
      continue;
    }
    result += text[at++];
  }
  return result;
}

}  // namespace bj
