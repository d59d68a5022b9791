#include "sys/transfer.h"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include <vector>

namespace bj {
namespace {

constexpr size_t kChunk = 1 << 20;

// For the pairs that neither splice nor sendfile takes.
Result<uint64_t> copy(int from, int to, uint64_t moved) {
  std::vector<char> buffer(kChunk);
  for (;;) {
    const ssize_t n = ::read(from, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail_errno("read");
    if (n == 0) return moved;
    for (ssize_t done = 0; done < n;) {
      const ssize_t w = ::write(to, buffer.data() + done, static_cast<size_t>(n - done));
      if (w < 0 && errno == EINTR) continue;
      if (w < 0) return fail_errno("write");
      done += w;
    }
    moved += static_cast<uint64_t>(n);
  }
}

}  // namespace

Result<uint64_t> transfer(int from, int to) {
  uint64_t moved = 0;
  for (;;) {
    ssize_t n = ::splice(from, nullptr, to, nullptr, kChunk, SPLICE_F_MOVE);
    if (n < 0 && errno == EINVAL) n = ::sendfile(to, from, nullptr, kChunk);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EINVAL) return copy(from, to, moved);
    if (n < 0) return fail_errno("splice");
    if (n == 0) return moved;
    moved += static_cast<uint64_t>(n);
  }
}

}  // namespace bj
