// A validator's finding in words for the one who called the tool.
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace bj {

// `path`: keys and indices from the arguments to the place; `finding`: the validator's own text. Empty: it only repeats
// what another finding says better.
std::string argument_problem(const boost::json::value& schema, const boost::json::value& arguments,
                             const std::vector<std::string>& path, std::string_view finding);

}  // namespace bj
