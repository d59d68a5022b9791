// JSON parsed with correctly rounded numbers: what a tool returns must be what a caller reads. Boost.JSON 1.81 computes
// doubles by itself and is often off by one unit in the last place.
#pragma once

#include <boost/json/value.hpp>
#include <string_view>

#include "base/error.h"

namespace bj {

// Strict JSON: UTF-8 is checked, what follows the value is an error, as is nesting deeper than `depth` or a number that
// no double holds.
Result<boost::json::value> parse_exactly(std::string_view text, size_t depth = 64);

// Boost.JSON reads 1e999 as infinity, which no JSON can carry back out.
bool is_finite(const boost::json::value& value);

}  // namespace bj
