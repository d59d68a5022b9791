#include "tools/return_limit.h"

#include <fmt/format.h>

#include "tools/python_text.h"

namespace bj {

namespace json = boost::json;

std::string return_text(const json::value& value) { return value.is_object() ? python_json(value) : python_str(value); }

json::value limit_return(json::value value, size_t limit) {
  const std::string text = return_text(value);
  const size_t length = python_length(text);
  if (length <= limit) return value;
  return json::value(
      fmt::format("{}... [NOTE: function output was truncated since it exceeded the character limit ({} > {})]",
                  python_prefix(text, limit), length, limit));
}

json::value return_message(json::value value, size_t limit) {
  json::value limited = limit_return(std::move(value), limit);
  if (limited.is_object() || limited.is_string()) return limited;
  return json::value(python_str(limited));
}

json::value note_limit_only(json::value value, size_t limit) {
  const std::string text = return_text(value);
  const size_t length = python_length(text);
  if (length <= limit) return value;
  return json::value(
      fmt::format("{}... [NOTE: function output was truncated since it exceeded the character limit: {} > {}]", text,
                  length, limit));
}

}  // namespace bj
