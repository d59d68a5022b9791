// The text that Python makes of JSON values: repr(), str() and json.dumps(). Letta's clients see these texts
// (`tool_return` is str() of the value), and hashes are taken over them, so they are Python's to the last character.
//
// Text is UTF-8. Lengths and cuts count code points, as Python's do. Pure functions; any thread.
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>

namespace bj {

std::string python_repr(std::string_view text);  // 'it\'s' rules and \x, \u, \U escapes for what isn't printable
std::string python_repr(double number);          // shortest that reads back: 0.1, 1e+16, inf, nan
std::string python_repr(const boost::json::value& value);
// As repr(), but a string is itself.
std::string python_str(const boost::json::value& value);

enum class KeyOrder { kAsGiven, kSorted };
enum class JsonSpacing { kSpaced, kCompact };  // ", " and ": ", or "," and ":"

// json.dumps(): ASCII only (surrogate pairs), Python's numbers (300 and 300.0 stay apart), NaN and Infinity allowed.
std::string python_json(const boost::json::value& value, KeyOrder order = KeyOrder::kAsGiven,
                        JsonSpacing spacing = JsonSpacing::kSpaced);

// The type's name in Python's messages: "NoneType", "int", "str", "list", ...
std::string_view python_type_name(const boost::json::value& value);

size_t python_length(std::string_view text);                          // len()
std::string_view python_prefix(std::string_view text, size_t count);  // text[:count]

}  // namespace bj
