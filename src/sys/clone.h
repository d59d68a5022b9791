// clone3 without the C library's bookkeeping: for processes without threads, and children that soon execute or exit.
#pragma once

#include <cstdint>

namespace bj {

struct Cloned {
  int pid;    // 0 in the child, -errno on failure
  int pidfd;  // in the parent
};
Cloned clone_process(uint64_t flags);

}  // namespace bj
