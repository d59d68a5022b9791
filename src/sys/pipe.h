// Pipes, close-on-exec at both ends.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"

namespace bj {

struct Pipe {
  Fd read, write;
};

inline Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail_errno("pipe2");
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

}  // namespace bj
