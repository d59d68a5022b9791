#include "base/exact_json.h"

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value_stack.hpp>
#include <charconv>
#include <cmath>

namespace bj {
namespace {

namespace json = boost::json;

// Builds the value as Boost's own parser does, but for doubles.
struct Builder {
  static constexpr size_t max_object_size = json::object::max_size();
  static constexpr size_t max_array_size = json::array::max_size();
  static constexpr size_t max_key_size = json::string::max_size();
  static constexpr size_t max_string_size = json::string::max_size();

  bool on_document_begin(json::error_code&) { return true; }
  bool on_document_end(json::error_code&) { return true; }
  bool on_object_begin(json::error_code&) { return true; }
  bool on_array_begin(json::error_code&) { return true; }
  bool on_comment_part(json::string_view, json::error_code&) { return true; }
  bool on_comment(json::string_view, json::error_code&) { return true; }
  bool on_number_part(json::string_view, json::error_code&) { return true; }
  bool on_object_end(size_t count, json::error_code&) { return stack.push_object(count), true; }
  bool on_array_end(size_t count, json::error_code&) { return stack.push_array(count), true; }
  bool on_key_part(json::string_view part, size_t, json::error_code&) { return stack.push_chars(part), true; }
  bool on_key(json::string_view key, size_t, json::error_code&) { return stack.push_key(key), true; }
  bool on_string_part(json::string_view part, size_t, json::error_code&) { return stack.push_chars(part), true; }
  bool on_string(json::string_view text, size_t, json::error_code&) { return stack.push_string(text), true; }
  bool on_int64(int64_t number, json::string_view, json::error_code&) { return stack.push_int64(number), true; }
  bool on_uint64(uint64_t number, json::string_view, json::error_code&) { return stack.push_uint64(number), true; }
  bool on_bool(bool truth, json::error_code&) { return stack.push_bool(truth), true; }
  bool on_null(json::error_code&) { return stack.push_null(), true; }
  // The text is the whole number: it came in one piece.
  bool on_double(double number, json::string_view text, json::error_code&) {
    double exact = number;
    const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), exact);
    stack.push_double(bad == std::errc() && end == text.data() + text.size() ? exact : number);
    return true;
  }

  json::value_stack stack;
};

}  // namespace

Result<json::value> parse_exactly(std::string_view text, size_t depth) {
  json::parse_options options;
  options.max_depth = depth;
  json::basic_parser<Builder> parser(options);
  parser.handler().stack.reset();
  json::error_code error;
  const size_t used = parser.write_some(false, text.data(), text.size(), error);
  if (!error && !parser.done()) error = json::error::incomplete;
  if (!error && text.find_first_not_of(" \t\r\n", used) != std::string_view::npos) error = json::error::extra_data;
  if (error) return fail(Code::kInvalid, error.message() + " near byte " + std::to_string(used));
  json::value value = parser.handler().stack.release();
  if (!is_finite(value)) return fail(Code::kInvalid, "a number is too large");
  return value;
}

bool is_finite(const json::value& value) {
  switch (value.kind()) {
    case json::kind::double_: return std::isfinite(value.get_double());
    case json::kind::array: return std::all_of(value.get_array().begin(), value.get_array().end(), is_finite);
    case json::kind::object:
      return std::all_of(value.get_object().begin(), value.get_object().end(),
                         [](const auto& item) { return is_finite(item.value()); });
    default: return true;
  }
}

}  // namespace bj
