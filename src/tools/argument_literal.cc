#include "tools/argument_literal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "tools/code_points.h"
#include "tools/python_text.h"

namespace bj {
namespace {

namespace json = boost::json;

tl::unexpected<PythonError> raise(const char* name, std::string message) {
  return tl::unexpected(PythonError{name, std::move(message)});
}

bool digit(char c) { return c >= '0' && c <= '9'; }

// int(text) written back: sign, digits with single underscores between them, any length.
std::optional<std::string> integer_text(std::string_view given) {
  std::string_view text = python_strip(given);
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  std::string digits;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool joint = text[i] == '_' && i > 0 && i + 1 < text.size() && digit(text[i - 1]) && digit(text[i + 1]);
    if (!joint && !digit(text[i])) return std::nullopt;
    if (!joint) digits += text[i];
  }
  if (digits.empty()) return std::nullopt;
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
  return negative && digits != "0" ? "-" + digits : digits;
}

PythonResult<std::string> integer_literal(const json::value& value) {
  if (value.is_bool()) return value.get_bool() ? "1" : "0";
  if (value.is_int64() || value.is_uint64()) return python_repr(value);
  if (value.is_double()) {
    const double number = value.get_double();
    if (std::isnan(number)) return raise("ValueError", "cannot convert float NaN to integer");
    if (std::isinf(number)) return raise("OverflowError", "cannot convert float infinity to integer");
    return fmt::format("{:.0f}", std::trunc(number) + 0.0);  // + 0.0: no "-0"
  }
  if (value.is_string()) {
    if (auto text = integer_text(value.get_string())) return *text;
    return raise("ValueError", "invalid literal for int() with base 10: " + python_repr(value));
  }
  return raise("TypeError",
               fmt::format("int() argument must be a string, a bytes-like object or a real number, not '{}'",
                           python_type_name(value)));
}

PythonResult<bool> boolean_value(const json::value& value) {
  if (value.is_bool()) return value.get_bool();
  if (value.is_int64() && (value.get_int64() == 0 || value.get_int64() == 1)) return value.get_int64() == 1;
  if (value.is_string()) {
    std::string text(python_strip(value.get_string()));
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    if (text == "true" || text == "false") return text == "true";
  }
  return raise("ValueError", "Invalid boolean value: " + python_str(value));
}

std::string_view type_name(const json::value& type) {
  return type.is_string() ? std::string_view(type.get_string()) : std::string_view();
}

}  // namespace

PythonResult<std::string> python_argument_literal(const json::value& type, const json::value& value) {
  if (type.is_array() || type.is_object()) {
    return raise("TypeError", fmt::format("unhashable type: '{}'", python_type_name(type)));
  }
  const std::string_view name = type_name(type);
  if (name == "string") return python_repr(value);
  if (name == "integer") return integer_literal(value);
  if (name == "boolean") {
    return boolean_value(value).map([](bool truth) { return std::string(truth ? "True" : "False"); });
  }
  if (name == "number" || name == "array" || name == "object") return python_str(value);
  return raise("TypeError", fmt::format("Unsupported type: {}, raw_value={}", python_str(type), python_str(value)));
}

PythonResult<std::string> typescript_argument_literal(const json::value& type, const json::value& value) {
  if (value.is_null()) return "null";
  const std::string_view name = type_name(type);
  if (name == "number" || name == "integer") return python_str(value);
  if (name == "boolean") {
    return boolean_value(value).map([](bool truth) { return std::string(truth ? "true" : "false"); });
  }
  return python_json(value);
}

}  // namespace bj
