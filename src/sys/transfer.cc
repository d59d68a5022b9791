#include "sys/transfer.h"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include <vector>

#include "sys/bytes.h"

namespace bj {
namespace {

constexpr size_t kChunk = 1 << 20;

// For the pairs that neither splice nor sendfile takes.
Result<uint64_t> copy(int from, int to, uint64_t moved) {
  std::vector<char> buffer(kChunk);
  for (;;) {
    const Moved read = read_some(from, buffer.data(), buffer.size());
    if (!read.ok()) return fail_with(read.sys, "read");
    if (read.ended()) return moved;
    for (std::string_view left(buffer.data(), read.size); !left.empty();) {
      const Moved written = write_some(to, left);
      if (!written.ok()) return fail_with(written.sys, "write");
      left.remove_prefix(written.size);
    }
    moved += read.size;
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

Result<std::optional<uint64_t>> next_data(int fd, uint64_t offset) {
  const off_t data = ::lseek(fd, static_cast<off_t>(offset), SEEK_DATA);
  if (data < 0 && errno == ENXIO) return std::nullopt;
  if (data < 0) return fail_errno("lseek(SEEK_DATA)");
  return static_cast<uint64_t>(data);
}

Result<uint64_t> next_hole(int fd, uint64_t offset) {
  const off_t hole = ::lseek(fd, static_cast<off_t>(offset), SEEK_HOLE);
  if (hole < 0) return fail_errno("lseek(SEEK_HOLE)");
  return static_cast<uint64_t>(hole);
}

}  // namespace bj
