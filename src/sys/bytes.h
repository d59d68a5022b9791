// One reading or writing call on a descriptor, for code that does its own waiting: the bytes of processes, channels and
// connections. EINTR is handled. Nothing is allocated, no message is made: "not now" is the most frequent failure here.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstddef>
#include <span>
#include <string_view>

namespace bj {

// What one call moved; a failure has moved nothing.
struct Moved {
  size_t size = 0;  // of a read, 0: the end
  int sys = 0;      // errno, 0: it worked

  bool ok() const { return sys == 0; }
  bool not_now() const { return sys == EAGAIN; }  // to be waited for
  bool ended() const { return sys == 0 && size == 0; }
};

Moved read_some(int fd, char* to, size_t most);
Moved read_some(int fd, std::span<const iovec> to);
Moved read_at(int fd, char* to, size_t most, off_t offset);
Moved write_some(int fd, std::string_view bytes);
Moved receive_some(int socket, char* to, size_t most, int flags = 0);
Moved send_some(int socket, std::string_view bytes, int flags = 0);  // a peer that is gone is EPIPE, no signal

// Of `from` at `offset`, which moves on, to where `to` stands; no bytes pass through our memory. 0: there are no more.
Moved send_file(int to, int from, off_t& offset, size_t most);

}  // namespace bj
