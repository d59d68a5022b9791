// $NAME and ${NAME} in a step's text, as a Dockerfile has them: also ${NAME:-text}, ${NAME:+text} and "\$". A variable
// that is not set is empty. Nothing else is special: no command is ever run. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace bj {

std::string expand_variables(std::string_view text, const std::map<std::string, std::string>& variables);

}  // namespace bj
