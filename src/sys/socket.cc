#include "sys/socket.h"

#include <cstring>

namespace bj {

Result<std::pair<Fd, Fd>> socket_pair(int type) {
  int ends[2];
  if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends) != 0) return fail_errno("socketpair");
  return std::pair(Fd(ends[0]), Fd(ends[1]));
}

Result<std::pair<Fd, Fd>> guarded_socket_pair(int type) {
  constexpr int kPassRights = 83;  // SO_PASSRIGHTS, which the build headers lack
  BJ_TRY(auto ends, socket_pair(type));
  const int none = 0;
  // An older kernel doesn't know it: then they are closed as they come, and none waits in that (seccomp.cc).
  (void)::setsockopt(ends.first.get(), SOL_SOCKET, kPassRights, &none, sizeof none);
  return ends;
}

Result<void> send_message(int socket, std::string_view bytes, const std::vector<int>& descriptors, int flags) {
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxPassed * sizeof(int))] = {};
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (!descriptors.empty()) {
    if (descriptors.size() > kMaxPassed) return fail(Code::kInternal, "sendmsg: too many descriptors");
    const size_t size = descriptors.size() * sizeof(int);
    header.msg_control = control;
    header.msg_controllen = CMSG_SPACE(size);
    cmsghdr* part_header = CMSG_FIRSTHDR(&header);
    part_header->cmsg_level = SOL_SOCKET;
    part_header->cmsg_type = SCM_RIGHTS;
    part_header->cmsg_len = CMSG_LEN(size);
    std::memcpy(CMSG_DATA(part_header), descriptors.data(), size);
  }
  while (::sendmsg(socket, &header, MSG_NOSIGNAL | flags) < 0) {
    if (errno != EINTR) return fail_errno("sendmsg");
  }
  return {};
}

Result<Message> receive_message(int socket, char* buffer, size_t capacity, int flags) {
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxPassed * sizeof(int))];
  iovec part{buffer, capacity};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  const Moved received = receive_packet(socket, header, MSG_CMSG_CLOEXEC | flags);
  if (!received.ok()) return fail_with(received.sys, "recvmsg");
  Message message;
  message.size = received.size;
  message.truncated = (header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0;
  for (cmsghdr* c = CMSG_FIRSTHDR(&header); c != nullptr; c = CMSG_NXTHDR(&header, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof fd);
      message.descriptors.emplace_back(fd);
    }
  }
  return message;
}

Moved receive_packet(int socket, msghdr& header, int flags) {
  for (;;) {
    const ssize_t size = ::recvmsg(socket, &header, flags);
    if (size >= 0) return {static_cast<size_t>(size), 0};
    if (errno != EINTR) return {0, errno};
  }
}

Result<void> connect_unix(int socket, const sockaddr_un& address) {
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return fail_errno("connect");
  return {};
}

}  // namespace bj
