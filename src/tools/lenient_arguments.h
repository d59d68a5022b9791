// Arguments as coercion would make them, for checking only: "7" stands for the integer 7, a number where text is wanted
// for its text. What can't be judged without Python (its literals) is left out.
#pragma once

#include <boost/json/object.hpp>
#include <set>
#include <string>

namespace bj {

struct LenientArguments {
  boost::json::object arguments;
  std::set<std::string, std::less<>> waived;  // left out: their absence is no mistake
};

// `schema`: of the parameters, an object with `properties`.
LenientArguments lenient_arguments(const boost::json::value& schema, const boost::json::object& arguments);

}  // namespace bj
