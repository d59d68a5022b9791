// Pipes, close-on-exec at both ends.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
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

// For what a process of another user has as its standard streams: it may open them again by name, as /dev/stdout. Only
// who could use the descriptors of such a process anyway finds the way to them.
inline Result<Pipe> make_stream_pipe() {
  BJ_TRY(Pipe pipe, make_pipe());
  if (::fchmod(pipe.read.get(), 0666) != 0) return fail_errno("fchmod(pipe)");
  return pipe;
}

}  // namespace bj
