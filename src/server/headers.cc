#include "server/headers.h"

#include <algorithm>

namespace bj {
namespace {

// ASCII only, whatever the locale.
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

}  // namespace

bool equal_ignoring_case(std::string_view left, std::string_view right) {
  return left.size() == right.size() &&
         std::equal(left.begin(), left.end(), right.begin(), [](char a, char b) { return lower(a) == lower(b); });
}

std::string_view Headers::get(std::string_view name) const {
  for (const Field& field : fields_)
    if (equal_ignoring_case(field.first, name)) return field.second;
  return {};
}

size_t Headers::count(std::string_view name) const {
  return static_cast<size_t>(std::count_if(fields_.begin(), fields_.end(),
                                           [&](const Field& field) { return equal_ignoring_case(field.first, name); }));
}

void Headers::set(std::string_view name, std::string_view value) {
  std::erase_if(fields_, [&](const Field& field) { return equal_ignoring_case(field.first, name); });
  add(name, value);
}

bool has_token(std::string_view list, std::string_view token) {
  for (;;) {
    const size_t comma = list.find(',');
    if (equal_ignoring_case(trimmed(list.substr(0, comma)), token)) return true;
    if (comma == std::string_view::npos) return false;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace bj
