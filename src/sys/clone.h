// clone3 without the C library's bookkeeping: for processes without threads, and children that soon execute or exit.
#pragma once

#include <cstdint>

#include "base/error.h"

namespace bj {

struct Cloned {
  int pid;    // 0 in the child, -errno on failure
  int pidfd;  // in the parent
};
// `into`: the directory of a version 2 control group that the child is born in; -1: its parent's.
Cloned clone_process(uint64_t flags, int into = -1);

// This process into namespaces of its own: CLONE_NEWUSER and others.
Result<void> enter_new_namespaces(int flags);

}  // namespace bj
