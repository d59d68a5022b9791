// Ids in the paths of Letta's API: what is none is told as its clients know it.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "server/request.h"

namespace bj::letta {

// The path's parameter, which must be prefix-<uuid4>.
Result<std::string> path_id(const HttpRequest& request, std::string_view parameter, std::string_view prefix);

}  // namespace bj::letta
