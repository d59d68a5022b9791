#include "tools/lax_values.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "tools/code_points.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr Mismatch kIntType{"int_type", "Input should be a valid integer"};
constexpr Mismatch kIntParsing{"int_parsing", "Input should be a valid integer, unable to parse string as an integer"};
constexpr Mismatch kIntFloat{"int_from_float", "Input should be a valid integer, got a number with a fractional part"};
constexpr Mismatch kIntSize{"int_parsing_size", "Unable to parse input string as an integer, exceeded maximum size"};
constexpr Mismatch kFinite{"finite_number", "Input should be a finite number"};
constexpr Mismatch kFloatType{"float_type", "Input should be a valid number"};
constexpr Mismatch kFloatParsing{"float_parsing", "Input should be a valid number, unable to parse string as a number"};
constexpr Mismatch kBoolType{"bool_type", "Input should be a valid boolean"};
constexpr Mismatch kBoolParsing{"bool_parsing", "Input should be a valid boolean, unable to interpret input"};
constexpr Mismatch kStringType{"string_type", "Input should be a valid string"};

bool digit(char c) { return c >= '0' && c <= '9'; }

// Underscores stand between digits, or the text is no number.
bool drop_underscores(std::string& text) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') continue;
    if (i == 0 || i + 1 == text.size() || !digit(text[i - 1]) || !digit(text[i + 1])) return false;
  }
  std::erase(text, '_');
  return true;
}

LaxResult<int64_t> integer_of_text(std::string_view given) {
  std::string text(python_strip(given));
  const size_t point = text.find('.');
  if (point != text.npos && point > 0 && point + 1 < text.size() &&
      text.find_first_not_of('0', point + 1) == text.npos) {
    text.resize(point);
  }
  if (text.starts_with('+')) {
    text.erase(0, 1);
    if (text.starts_with('-')) return tl::unexpected(kIntParsing);
  }
  if (!drop_underscores(text)) return tl::unexpected(kIntParsing);
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec == std::errc::result_out_of_range && parsed.ptr == end) return tl::unexpected(kIntSize);
  if (parsed.ec != std::errc() || parsed.ptr != end) return tl::unexpected(kIntParsing);
  return Converted<int64_t>{number, false};
}

LaxResult<int64_t> integer_of_float(double number) {
  if (!std::isfinite(number)) return tl::unexpected(kFinite);
  if (number != std::floor(number)) return tl::unexpected(kIntFloat);
  if (number < -9223372036854775808.0 || number >= 9223372036854775808.0) return tl::unexpected(kIntSize);
  return Converted<int64_t>{static_cast<int64_t>(number), false};
}

LaxResult<double> number_of_text(std::string_view given) {
  std::string text(python_strip(given));
  if (text.find_first_of("xX") != text.npos || text.find('\0') != text.npos || !drop_underscores(text) ||
      text.empty() || text.find('(') != text.npos) {
    return tl::unexpected(kFloatParsing);
  }
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (end != text.c_str() + text.size()) return tl::unexpected(kFloatParsing);
  return Converted<double>{number, false};
}

}  // namespace

LaxResult<int64_t> lax_integer(const json::value& value) {
  switch (value.kind()) {
    case json::kind::int64: return Converted<int64_t>{value.get_int64()};
    case json::kind::uint64: return tl::unexpected(kIntSize);
    case json::kind::bool_: return Converted<int64_t>{value.get_bool() ? 1 : 0, false};
    case json::kind::double_: return integer_of_float(value.get_double());
    case json::kind::string: return integer_of_text(value.get_string());
    default: return tl::unexpected(kIntType);
  }
}

LaxResult<double> lax_number(const json::value& value) {
  switch (value.kind()) {
    case json::kind::int64: return Converted<double>{static_cast<double>(value.get_int64()), false};
    case json::kind::uint64: return Converted<double>{static_cast<double>(value.get_uint64()), false};
    case json::kind::double_: return Converted<double>{value.get_double()};
    case json::kind::bool_: return Converted<double>{value.get_bool() ? 1.0 : 0.0, false};
    case json::kind::string: return number_of_text(value.get_string());
    default: return tl::unexpected(kFloatType);
  }
}

LaxResult<bool> lax_boolean(const json::value& value) {
  if (value.is_bool()) return Converted<bool>{value.get_bool()};
  if (value.is_string()) {
    std::string text(value.get_string());
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    for (const char* word : {"1", "true", "t", "yes", "y", "on"}) {
      if (text == word) return Converted<bool>{true, false};
    }
    for (const char* word : {"0", "false", "f", "no", "n", "off"}) {
      if (text == word) return Converted<bool>{false, false};
    }
    return tl::unexpected(kBoolParsing);
  }
  if (!value.is_int64() && !value.is_double()) return tl::unexpected(kBoolType);
  const auto number = lax_integer(value);  // what is none of 64 bits is not even a wrong truth value
  if (!number) return tl::unexpected(kBoolType);
  if (number->value != 0 && number->value != 1) return tl::unexpected(kBoolParsing);
  return Converted<bool>{number->value == 1, false};
}

LaxResult<std::string> lax_string(const json::value& value) {
  if (!value.is_string()) return tl::unexpected(kStringType);
  return Converted<std::string>{std::string(value.get_string())};
}

}  // namespace bj
