// The kernel's structures as the warden uses them, without a C library: thin names over raw.h.
#pragma once

#include <linux/inotify.h>
#include <linux/openat2.h>
#include <linux/prctl.h>

#include <cstddef>
#include <cstdint>

#include "sys/raw.h"
#include "warden/wire.h"

namespace bj::ward {

using raw::address;
using raw::call;
using raw::kAtFdCwd;

inline constexpr int kControlFd = 3;
inline constexpr int kEIO = 5, kEAGAIN = 11, kEACCES = 13, kEINVAL = 22, kENOENT = 2, kEINTR = 4, kENAMETOOLONG = 36;
inline constexpr long kCloexec = 02000000, kNonblock = 04000, kNoctty = 0400, kReadWrite = 2, kOpenPath = 010000000;
inline constexpr long kDontWait = 0x40, kNoSignal = 0x4000, kCmsgCloexec = 0x40000000;
inline constexpr long kSigTerm = 15, kSigKill = 9, kSigChld = 17;
inline constexpr short kPollIn = 1;

struct IoVector {
  void* base;
  size_t size;
};
struct MessageHeader {
  void* name;
  int name_size;
  IoVector* parts;
  size_t part_count;
  void* control;
  size_t control_size;
  int flags;
};
struct Rights {  // one SCM_RIGHTS control message
  size_t size;
  int level, type;
  int fds[kMaxDescriptors];
};
inline constexpr size_t kRightsHeader = 16;
struct PollFd {
  int fd;
  short events, revents;
};
struct UnixAddress {
  uint16_t family;
  char path[108];
};

inline void close(long fd) {
  if (fd >= 0) call(__NR_close, fd);
}

// Descriptors that came with a message; whoever holds it closes them.
struct Descriptors {
  int fds[kMaxDescriptors];
  int count = 0;
  ~Descriptors() {
    for (int i = 0; i < count; ++i) close(fds[i]);
  }
};

inline long receive(int socket, void* buffer, size_t size, Descriptors& descriptors, long flags) {
  IoVector part{buffer, size};
  Rights rights{};
  MessageHeader header{nullptr, 0, &part, 1, &rights, sizeof rights, 0};
  const long n = call(__NR_recvmsg, socket, address(&header), kCmsgCloexec | flags);
  if (n < 0 || header.control_size < kRightsHeader || rights.level != 1 || rights.type != 1) return n;
  const size_t count = (rights.size - kRightsHeader) / sizeof(int);
  for (size_t i = 0; i < count && i < kMaxDescriptors; ++i) descriptors.fds[descriptors.count++] = rights.fds[i];
  constexpr int kTruncated = 0x20 | 0x8;
  return (header.flags & kTruncated) != 0 ? 0 : n;
}

inline void send(int socket, const Reply& reply, long fd, long flags) {
  Reply copy = reply;
  IoVector part{&copy, sizeof copy};
  Rights rights{kRightsHeader + sizeof(int), 1, 1, {static_cast<int>(fd)}};
  MessageHeader header{nullptr, 0, &part, 1, fd >= 0 ? &rights : nullptr, fd >= 0 ? size_t{24} : size_t{0}, 0};
  call(__NR_sendmsg, socket, address(&header), kNoSignal | flags);
}

}  // namespace bj::ward
