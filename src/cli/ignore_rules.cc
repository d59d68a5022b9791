#include "cli/ignore_rules.h"

#include <algorithm>
#include <filesystem>

namespace bj {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r";
  const size_t begin = std::min(text.find_first_not_of(kSpace), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(kSpace) + 1);
}

// "[a-z]" or "[^a-z]" at the pattern's beginning, which is taken off it. False: it does not match, or has no end.
bool matches_class(std::string_view& pattern, char c) {
  size_t at = 1;
  const bool inverted = at < pattern.size() && pattern[at] == '^';
  if (inverted) ++at;
  bool found = false;
  for (bool first = true; at < pattern.size() && (first || pattern[at] != ']'); first = false) {
    if (pattern[at] == '\\' && at + 1 < pattern.size()) ++at;
    const char low = pattern[at++];
    char high = low;
    if (at + 1 < pattern.size() && pattern[at] == '-' && pattern[at + 1] != ']') {
      high = pattern[at + 1];
      at += 2;
    }
    found = found || (low <= c && c <= high);
  }
  if (at >= pattern.size()) return false;
  pattern.remove_prefix(at + 1);
  return found != inverted && c != '/';
}

bool matches(std::string_view pattern, std::string_view path);

// Any number of directories, or, at a pattern's end, anything.
bool matches_directories(std::string_view pattern, std::string_view path) {
  pattern.remove_prefix(std::min(pattern.find_first_not_of('*'), pattern.size()));
  if (pattern.empty()) return true;
  if (pattern.front() == '/') pattern.remove_prefix(1);
  for (;;) {
    if (matches(pattern, path)) return true;
    const size_t slash = path.find('/');
    if (slash == std::string_view::npos) return false;
    path.remove_prefix(slash + 1);
  }
}

bool matches(std::string_view pattern, std::string_view path) {
  while (!pattern.empty()) {
    if (pattern.starts_with("**")) return matches_directories(pattern, path);
    if (pattern.front() == '*') {
      pattern.remove_prefix(1);
      while (!matches(pattern, path)) {
        if (path.empty() || path.front() == '/') return false;
        path.remove_prefix(1);
      }
      return true;
    }
    if (path.empty()) return false;
    const char c = path.front();
    if (pattern.front() == '[') {
      if (!matches_class(pattern, c)) return false;
    } else {
      if (pattern.front() == '\\' && pattern.size() > 1) {
        pattern.remove_prefix(1);
        if (pattern.front() != c) return false;
      } else if (pattern.front() == '?' ? c == '/' : pattern.front() != c) {
        return false;
      }
      pattern.remove_prefix(1);
    }
    path.remove_prefix(1);
  }
  return path.empty();
}

bool matches_or_what_it_lies_in(const std::string& pattern, std::string_view path) {
  for (size_t end = path.find('/'); end != std::string_view::npos; end = path.find('/', end + 1)) {
    if (matches(pattern, path.substr(0, end))) return true;
  }
  return matches(pattern, path);
}

}  // namespace

IgnoreRules::IgnoreRules(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with("#")) continue;
    line = trimmed(line);
    Rule rule;
    rule.takes_back = line.starts_with("!");
    if (rule.takes_back) line = trimmed(line.substr(1));
    if (line.empty()) continue;
    rule.pattern = std::filesystem::path(line).lexically_normal().string();
    while (rule.pattern.size() > 1 && rule.pattern.ends_with("/")) rule.pattern.pop_back();
    while (rule.pattern.starts_with("/")) rule.pattern.erase(0, 1);
    if (rule.pattern.empty() || rule.pattern == ".") continue;
    exceptions_ = exceptions_ || rule.takes_back;
    rules_.push_back(std::move(rule));
  }
}

bool IgnoreRules::ignores(std::string_view path) const {
  bool ignored = false;
  for (const Rule& rule : rules_) {
    if (rule.takes_back == ignored && matches_or_what_it_lies_in(rule.pattern, path)) ignored = !rule.takes_back;
  }
  return ignored;
}

}  // namespace bj
