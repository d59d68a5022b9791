// pydantic's lax conversions of single values: "60" and 60.0 are integers, "yes" is true. A conversion that changed the
// type is not exact, which decides between the members of a union.
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>

#include "base/error.h"

namespace bj {

struct Mismatch {
  std::string_view type;  // pydantic's name of it: "int_parsing"
  std::string_view msg;
};

template <class T>
struct Converted {
  T value{};
  bool exact = true;
};
template <class T>
using LaxResult = tl::expected<Converted<T>, Mismatch>;

LaxResult<int64_t> lax_integer(const boost::json::value& value);
LaxResult<double> lax_number(const boost::json::value& value);
LaxResult<bool> lax_boolean(const boost::json::value& value);
LaxResult<std::string> lax_string(const boost::json::value& value);  // strings only

}  // namespace bj
