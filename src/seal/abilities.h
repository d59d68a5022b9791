// What this kernel and this user can do, found out by trying (probe_abilities), never by version numbers. `doctor`
// prints it, the plan adapts to it, and every sandbox's seal names what is missing and why.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace bj {

struct Ability {
  bool available = false;
  std::string detail;  // how, or why not and what to do
};

struct Abilities {
  bool root = false;  // privileged in the first user namespace
  Ability user_namespaces;
  Ability idmapped_mounts;
  Ability overlay;
  Ability replaced_directories;  // in a sandbox with a writable root
  Ability proc_subset;
  Ability seccomp;
  int landlock_abi = 0;
  Ability landlock;
};

// Forks for a moment: call it before the process has threads.
Abilities probe_abilities();

}  // namespace bj
