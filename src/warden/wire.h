// The protocol between the engine and the warden: one message a packet on a SOCK_SEQPACKET socket, descriptors beside
// it. The decoders are here, used by both sides and fuzzed; neither side trusts the other's bytes. No C library: the
// warden has none.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bj::ward {

enum class Op : uint16_t {
  kSpawn = 1,      // strings: directory, arguments, environment; descriptors: stdin, stdout, stderr, then 3, 4, ...
  kSignal,         // number: pid or -group, flags: signal
  kOpen,           // strings: path; flags, mode: as open(2), masked -> descriptor
  kMakeDirectory,  // strings: path; mode
  kRename,         // strings: from, to
  kRemove,         // strings: path; flags: 1 for a directory
  kWatch,          // strings: path; flags: inotify mask -> inotify descriptor
  kConnect,        // number: port on loopback, flags: 1 for IPv6 -> socket, possibly still connecting
  kServeSudo,      // from now on, processes inside may ask for kSpawn as root inside, or as anybody inside
};

enum SpawnFlags : uint32_t {
  kTerminal = 1,       // stdio is a new PTY, its master comes back; no stdio descriptors are passed
  kDirectoryByFd = 2,  // the last descriptor is the working directory
  kNoInput = 4,        // stdin is /dev/null instead of the first descriptor
};

struct Request {
  uint32_t id;
  Op op;
  uint16_t rows, columns;  // of a new PTY
  uint16_t reserved;
  uint32_t uid, gid;
  uint32_t flags;
  uint32_t mode;
  int32_t number;
  uint32_t argument_count, environment_count;
};

enum class ReplyKind : uint32_t {
  kReady = 1,  // the warden runs; id 0
  kDone = 2,   // answer to id: value >= 0, or -errno; with a descriptor if the request gives one
  kExit = 3,   // a spawned process ended: value = pid, status as wait(2)
};

struct Reply {
  uint32_t id;
  ReplyKind kind;
  int32_t value;
  int32_t status;
  uint64_t user_us, system_us;
  uint64_t max_rss_kb;
};

inline constexpr size_t kMaxMessage = 160 * 1024;
inline constexpr uint32_t kMaxStrings = 4096;  // arguments and environment together
inline constexpr int kMaxDescriptors = 8;

// True if `bytes` is a whole request whose strings are all there; `strings` then points at the first.
inline bool decode(const char* bytes, size_t size, Request& request, const char*& strings) {
  if (size < sizeof request || size > kMaxMessage) return false;
  for (size_t i = 0; i < sizeof request; ++i) reinterpret_cast<char*>(&request)[i] = bytes[i];
  strings = bytes + sizeof request;
  const size_t left = size - sizeof request;
  if (request.argument_count > kMaxStrings || request.environment_count > kMaxStrings) return false;
  size_t needed = size_t{request.argument_count} + request.environment_count;
  switch (request.op) {
    case Op::kSpawn:
      if (request.argument_count == 0) return false;
      needed += 1;
      break;
    case Op::kOpen:
    case Op::kMakeDirectory:
    case Op::kRemove:
    case Op::kWatch: needed = 1; break;
    case Op::kRename: needed = 2; break;
    case Op::kSignal:
    case Op::kConnect:
    case Op::kServeSudo: needed = 0; break;
    default: return false;
  }
  if (needed > kMaxStrings) return false;
  size_t found = 0;
  for (size_t i = 0; i < left; ++i) found += strings[i] == 0 ? 1 : 0;
  return found == needed && (left == 0 || strings[left - 1] == 0);
}

inline bool decode(const char* bytes, size_t size, Reply& reply) {
  if (size != sizeof reply) return false;
  for (size_t i = 0; i < sizeof reply; ++i) reinterpret_cast<char*>(&reply)[i] = bytes[i];
  return reply.kind == ReplyKind::kReady || reply.kind == ReplyKind::kDone || reply.kind == ReplyKind::kExit;
}

}  // namespace bj::ward
