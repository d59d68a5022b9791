// What a user is told of a limit that was reached: a sentence that names it and its flag.
#pragma once

#include <string>

#include "seal/policy.h"

namespace bj {

// `limit` as in limits_hit, `who` as in "the command". Empty for those of which the output itself tells.
std::string limit_sentence(const std::string& limit, const Limits& limits, const char* who);

}  // namespace bj
