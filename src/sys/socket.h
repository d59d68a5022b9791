// Unix sockets that carry descriptors. What a peer sends is bounded here: at most kMaxPassed descriptors a message, all
// owned from the moment they arrive.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "sys/bytes.h"

namespace bj {

inline constexpr size_t kMaxPassed = 48;  // all mounts of one sandbox, and more (launcher.cc)

// type: SOCK_SEQPACKET or SOCK_STREAM. Both ends are close-on-exec.
Result<std::pair<Fd, Fd>> socket_pair(int type);

// The same for a peer that may be hostile: the first end, ours, takes no descriptors, where the kernel can refuse them
// (since Linux 6.16). One that arrives unasked is closed by whoever reads, which can be a lot of work.
Result<std::pair<Fd, Fd>> guarded_socket_pair(int type);

Result<void> send_message(int socket, std::string_view bytes, const std::vector<int>& descriptors, int flags = 0);

struct Message {
  size_t size = 0;  // 0: the peer is gone
  bool truncated = false;
  std::vector<Fd> descriptors;
};
// Fails with EAGAIN (Code::kExhausted) when nothing is there and flags has MSG_DONTWAIT.
Result<Message> receive_message(int socket, char* buffer, size_t capacity, int flags = 0);

// recvmsg(2), for who wants to know more of a packet; `header` says what.
Moved receive_packet(int socket, msghdr& header, int flags);

// Fails with ECONNREFUSED or ENOENT when nobody listens there.
Result<void> connect_unix(int socket, const sockaddr_un& address);

}  // namespace bj
