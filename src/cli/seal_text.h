// A seal for people: its controls by group, a line each.
#pragma once

#include <string>

#include "seal/seal.h"

namespace bj {

// "seal: full" or "seal: lacks io (unavailable: ...)", then a line a group.
std::string seal_text(const Seal& seal);
// For who did not ask: "the seal is not full: it lacks memory, cpu (...)". Empty when it is full.
std::string seal_warning(const Seal& seal);

}  // namespace bj
