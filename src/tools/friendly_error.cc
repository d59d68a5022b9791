#include "tools/friendly_error.h"

#include <fmt/format.h>

#include <optional>

#include "tools/python_text.h"

namespace bj {
namespace {

bool word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool exception_name(std::string_view word) {
  for (const std::string_view suffix : {"Error", "Exception"}) {
    if (word.size() > suffix.size() && word.ends_with(suffix)) return true;
  }
  return false;
}

// The first `SomethingError: message` in a line.
std::optional<PythonError> error_in_line(std::string_view line) {
  for (size_t colon = line.find(": "); colon != line.npos; colon = line.find(": ", colon + 1)) {
    size_t start = colon;
    while (start > 0 && word_character(line[start - 1])) --start;
    const std::string_view word = line.substr(start, colon - start);
    const std::string_view message = line.substr(colon + 2);
    if (exception_name(word) && !message.empty()) return PythonError{std::string(word), std::string(message)};
  }
  return std::nullopt;
}

}  // namespace

std::string friendly_error(std::string_view function_name, const PythonError& error) {
  const std::string text = fmt::format("Error executing function {}: {}: {}", function_name, error.name, error.message);
  return std::string(python_prefix(text, kMaxErrorMessage));
}

PythonError error_in_stderr(std::string_view text) {
  for (int piece = 0; piece < 3; ++piece) {
    const size_t newline = text.rfind('\n');
    const std::string_view line = newline == text.npos ? text : text.substr(newline + 1);
    if (auto error = error_in_line(line)) return *error;
    if (newline == text.npos) break;
    text = text.substr(0, newline);
  }
  return {};
}

}  // namespace bj
