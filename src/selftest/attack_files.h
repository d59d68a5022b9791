// The attacks of this release: they travel inside the binary, the C ones compiled (cmake/attacks.cmake).
#pragma once

#include <vector>

#include "selftest/attack.h"

namespace bj::selftest {

std::vector<AttackFile> embedded_attack_files();
// The programs of attack_world.h.
std::vector<AttackFile> embedded_world_files();

}  // namespace bj::selftest
