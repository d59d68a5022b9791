#include "tools/return_limit.h"

#include <fmt/format.h>

#include "tools/python_text.h"

namespace bj {

namespace json = boost::json;

LimitedReturn limit_return(json::value value, std::optional<std::string> text, size_t limit) {
  std::string shown = text ? std::move(*text) : python_str(value);
  const std::string counted = value.is_object() ? python_json(value) : shown;
  const size_t length = python_length(counted);
  if (length <= limit) return {std::move(value), std::move(shown)};
  const std::string cut =
      fmt::format("{}... [NOTE: function output was truncated since it exceeded the character limit ({} > {})]",
                  python_prefix(counted, limit), length, limit);
  return {json::value(cut), cut};
}

json::value return_message(json::value value, size_t limit) {
  LimitedReturn limited = limit_return(std::move(value), std::nullopt, limit);
  return limited.value.is_object() ? std::move(limited.value) : json::value(limited.text);
}

json::value note_limit_only(json::value value, size_t limit) {
  const std::string text = value.is_object() ? python_json(value) : python_str(value);
  const size_t length = python_length(text);
  if (length <= limit) return value;
  return json::value(
      fmt::format("{}... [NOTE: function output was truncated since it exceeded the character limit: {} > {}]", text,
                  length, limit));
}

}  // namespace bj
