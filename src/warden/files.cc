#include "warden/files.h"

namespace bj::ward {
namespace {

// Access mode, O_CREAT, O_EXCL, O_TRUNC, O_APPEND, O_DIRECTORY, O_NOFOLLOW, O_PATH: the flags a caller may choose.
constexpr uint32_t kOpenMask = 3 | 0100 | 0200 | 01000 | 02000 | 0200000 | 0400000 | 010000000;
constexpr uint64_t kNoMagicLinks = 2;
constexpr long kProcMagic = 0x9fa0;
constexpr long kRemoveDirectory = 0x200;
constexpr int kEINPROGRESS = 115;

// While it lives, file permissions are checked against another user.
class AsUser {
 public:
  AsUser(uint32_t uid, uint32_t gid) : own_(call(__NR_getuid)), changed_(own_ != static_cast<long>(uid)) {
    if (!changed_) return;
    call(__NR_setfsgid, gid);
    call(__NR_setfsuid, uid);
  }
  ~AsUser() {
    if (!changed_) return;
    call(__NR_setfsuid, own_);
    call(__NR_setfsgid, own_);
  }
  AsUser(const AsUser&) = delete;

 private:
  long own_;
  bool changed_;
};

// A file of /proc would be the warden's own view of the sandbox, /proc/self/mem included: never handed out.
bool on_proc(long fd) {
  long info[16] = {};
  return call(__NR_fstatfs, fd, address(info)) < 0 || info[0] == kProcMagic;
}

// O_NONBLOCK: a FIFO planted at the path must not stop the warden.
Opened open_file(const Request& request, const char* path) {
  open_how how{};
  how.flags = (request.flags & kOpenMask) | kCloexec;
  if ((how.flags & kOpenPath) == 0) how.flags |= kNonblock | kNoctty;
  if ((how.flags & 0100) != 0) how.mode = request.mode & 07777;
  how.resolve = kNoMagicLinks;
  const long fd = call(raw::kNrOpenat2, kAtFdCwd, address(path), address(&how), sizeof how);
  if (fd < 0) return {fd, -1};
  if (on_proc(fd)) {
    close(fd);
    return {-kEACCES, -1};
  }
  return {0, fd};
}

Opened watch(const Request& request, const char* path) {
  const long fd = call(__NR_inotify_init1, kCloexec | kNonblock);
  if (fd < 0) return {fd, -1};
  const long added = call(__NR_inotify_add_watch, fd, address(path), request.flags);
  if (added < 0) {
    close(fd);
    return {added, -1};
  }
  return {added, fd};
}

}  // namespace

Opened file_operation(const Request& request, const char* strings) {
  if (strings[0] != '/') return {-kEINVAL, -1};
  const AsUser as_user(request.uid, request.gid);
  switch (request.op) {
    case Op::kOpen: return open_file(request, strings);
    case Op::kMakeDirectory: return {call(__NR_mkdir, address(strings), request.mode & 07777), -1};
    case Op::kRename: return {call(__NR_rename, address(strings), address(strings + raw::length(strings) + 1)), -1};
    case Op::kRemove:
      return {call(__NR_unlinkat, kAtFdCwd, address(strings), request.flags == 1 ? kRemoveDirectory : 0), -1};
    case Op::kWatch: return watch(request, strings);
    default: return {-kEINVAL, -1};
  }
}

// Never waits: a listener whose queue is full must not stop the warden; the engine awaits the connection.
Opened connect_to(const Request& request) {
  const bool v6 = request.flags == 1;
  struct {
    uint16_t family, port;
    uint32_t address4;
    uint8_t zero[8];
  } const v4_address{2, __builtin_bswap16(static_cast<uint16_t>(request.number)), 0x0100007f, {}};
  struct {
    uint16_t family, port;
    uint32_t flow;
    uint8_t address16[16];
    uint32_t scope;
  } const v6_address{10, v4_address.port, 0, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 0};
  const long fd = call(__NR_socket, v6 ? 10 : 2, 1 | kCloexec | kNonblock, 0);
  if (fd < 0) return {fd, -1};
  const long r = v6 ? call(__NR_connect, fd, address(&v6_address), sizeof v6_address)
                    : call(__NR_connect, fd, address(&v4_address), sizeof v4_address);
  if (r < 0 && r != -kEINPROGRESS) {
    close(fd);
    return {r, -1};
  }
  return {0, fd};
}

}  // namespace bj::ward
