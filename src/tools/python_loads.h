// json.loads(): reads JSON as Python does, where the text came from Python or a message must be Python's. Unlike
// Boost.JSON it rounds every number correctly, knows NaN and Infinity, and takes lone surrogates (they become U+FFFD).
// Integers beyond 64 bits become floating-point numbers.
#pragma once

#include <boost/json/value.hpp>
#include <string_view>

#include "base/error.h"

namespace bj {

inline constexpr size_t kMaxJsonDepth = 200;

// Failures say what Python says: "Expecting value: line 1 column 1 (char 0)".
Result<boost::json::value> python_loads(std::string_view text);

}  // namespace bj
