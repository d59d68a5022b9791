// flock(2): a lock on an open file, which every copy of the descriptor holds, in other processes, too. It goes with the
// last of them.
#pragma once

#include <string>

#include "base/error.h"

namespace bj {

enum class Lock { kShared, kAlone };

// `name` is for the message. Waits until it can be had.
Result<void> lock_file(int fd, Lock lock, const std::string& name);
// False: somebody else has one that forbids it.
Result<bool> try_lock_file(int fd, Lock lock, const std::string& name);
void unlock_file(int fd);

}  // namespace bj
