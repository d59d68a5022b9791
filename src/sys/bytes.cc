#include "sys/bytes.h"

#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

namespace bj {
namespace {

template <class Call>
Moved moved_by(Call call) {
  for (;;) {
    const ssize_t n = call();
    if (n >= 0) return {static_cast<size_t>(n), 0};
    if (errno != EINTR) return {0, errno};
  }
}

}  // namespace

Moved read_some(int fd, char* to, size_t most) {
  return moved_by([&] { return ::read(fd, to, most); });
}

Moved read_some(int fd, std::span<const iovec> to) {
  return moved_by([&] { return ::readv(fd, to.data(), static_cast<int>(to.size())); });
}

Moved read_at(int fd, char* to, size_t most, off_t offset) {
  return moved_by([&] { return ::pread(fd, to, most, offset); });
}

Moved write_some(int fd, std::string_view bytes) {
  return moved_by([&] { return ::write(fd, bytes.data(), bytes.size()); });
}

Moved receive_some(int socket, char* to, size_t most, int flags) {
  return moved_by([&] { return ::recv(socket, to, most, flags); });
}

Moved send_some(int socket, std::string_view bytes, int flags) {
  return moved_by([&] { return ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | flags); });
}

Moved send_file(int to, int from, off_t& offset, size_t most) {
  return moved_by([&] { return ::sendfile(to, from, &offset, most); });
}

}  // namespace bj
