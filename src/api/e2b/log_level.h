// How weighty a line of a log is, as E2B names it: debug, info, warn or error. Who asks for a level gets that one and
// the weightier ones.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace bj::e2b {

// kInvalid: there is no such level. Empty stands for every level.
Result<void> check_log_level(const std::string& level);
bool is_at_least(std::string_view level, std::string_view wanted);

}  // namespace bj::e2b
