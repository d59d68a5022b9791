// The warden: PID 1 of a sandbox. It starts processes, opens files and connects to ports when the engine asks, passes
// the descriptors back, reaps, and lets processes inside become root or others inside where the template allows sudo.
// It moves no data, allocates nothing and links nothing. Descriptor 3 is the engine; when it closes, the sandbox ends.
#include "warden/files.h"
#include "warden/kernel.h"
#include "warden/spawn.h"

namespace bj::ward {
namespace {

constexpr int kMaxProcesses = 1024;  // spawned and not yet reported
constexpr int kMaxPeers = 16;        // sudo commands at a time
constexpr int kMaxStarts = 64;       // spawned and not yet executed
constexpr uint32_t kNobody = ~0u;    // no id, for the kernel

struct Peer {
  int fd = -1;
  int pid = 0;
};

// A process between its making and its exec; whoever asked for it is answered when that is over.
struct Start {
  int outcome = -1;
  int pid = 0;
  uint32_t id = 0;
  int terminal = -1;
  Peer* peer = nullptr;  // null: the engine
};

char g_packet[kMaxMessage];
int g_processes[kMaxProcesses];
Peer g_peers[kMaxPeers];
Start g_starts[kMaxStarts];
int g_listener = -1;

int* slot_of(int pid) {
  for (int& p : g_processes) {
    if (p == pid) return &p;
  }
  return nullptr;
}

bool has_room() {
  for (const Start& s : g_starts) {
    if (s.outcome < 0) return true;
  }
  return false;
}

// The new process, or -errno; whether its program runs is told later, by finish().
long begin(const Request& request, const char* strings, const Descriptors& descriptors, Peer* peer) {
  Start* start = nullptr;
  for (Start& s : g_starts) {
    if (s.outcome < 0) start = &s;
  }
  if (start == nullptr) return -kEAGAIN;
  const Spawned spawned = spawn(request, strings, descriptors);
  if (spawned.pid > 0) {
    *start = {static_cast<int>(spawned.outcome), static_cast<int>(spawned.pid), request.id,
              static_cast<int>(spawned.terminal), peer};
  }
  return spawned.pid;
}

void forget(Start& start) {
  close(start.outcome);
  close(start.terminal);
  start = {};
}

void drop(Peer& peer) {
  close(peer.fd);
  peer = {};
}

// Answers if it is known by now whether the program runs.
void finish(Start& start) {
  const long error = outcome_of(start.outcome);
  if (error == -kEAGAIN) return;
  const Reply reply{start.id, ReplyKind::kDone, static_cast<int>(error < 0 ? error : start.pid), 0, 0, 0, 0};
  if (start.peer != nullptr) {
    send(start.peer->fd, reply, error < 0 ? -1 : start.terminal, kDontWait);
    if (error < 0) drop(*start.peer);
  } else {
    if (error < 0) {
      if (int* slot = slot_of(start.pid); slot != nullptr) *slot = 0;
    }
    send(kControlFd, reply, error < 0 ? -1 : start.terminal, 0);
  }
  forget(start);
}

void answer_spawn(const Request& request, const char* strings, const Descriptors& descriptors) {
  int* slot = slot_of(0);
  const long pid = slot != nullptr ? begin(request, strings, descriptors, nullptr) : -kEAGAIN;
  if (pid > 0) {
    *slot = static_cast<int>(pid);
  } else {
    send(kControlFd, {request.id, ReplyKind::kDone, static_cast<int>(pid), 0, 0, 0, 0}, -1, 0);
  }
}

// The socket lies where only the sandbox's root can replace it; any process may connect.
long serve_sudo() {
  static const char directory[] = "/run/belljar";
  const UnixAddress name{1, "/run/belljar/sudo.sock"};
  call(__NR_mkdir, address(directory), 0755);
  const long fd = call(__NR_socket, 1, 5 | kCloexec | kNonblock, 0);
  if (fd < 0) return fd;
  call(__NR_unlink, address(name.path));
  long r = call(__NR_bind, fd, address(&name), sizeof name);
  if (r >= 0) r = call(__NR_chmod, address(name.path), 0666);
  if (r >= 0) r = call(__NR_listen, fd, kMaxPeers);
  if (r < 0) {
    close(fd);
    return r;
  }
  g_listener = static_cast<int>(fd);
  return 0;
}

// False when the engine is gone.
bool serve_engine() {
  Descriptors descriptors;
  const long size = receive(kControlFd, g_packet, sizeof g_packet, descriptors, 0);
  if (size <= 0) return false;
  Request request{};
  const char* strings = nullptr;
  if (!decode(g_packet, static_cast<size_t>(size), request, strings)) {
    send(kControlFd, {request.id, ReplyKind::kDone, -kEINVAL, 0, 0, 0, 0}, -1, 0);
    return true;
  }
  Opened done{-kEINVAL, -1};
  switch (request.op) {
    case Op::kSpawn: answer_spawn(request, strings, descriptors); return true;
    case Op::kSignal:
      done.value =
          request.number == -1 || request.number == 1 ? -kEINVAL : call(__NR_kill, request.number, request.flags);
      break;
    case Op::kConnect: done = connect_to(request); break;
    case Op::kServeSudo: done.value = serve_sudo(); break;
    default: done = file_operation(request, strings); break;
  }
  send(kControlFd, {request.id, ReplyKind::kDone, static_cast<int>(done.value), 0, 0, 0, 0}, done.fd, 0);
  close(done.fd);
  return true;
}

void accept_peer() {
  const long fd = call(__NR_accept4, g_listener, 0, 0, kCloexec | kNonblock);
  if (fd < 0) return;
  for (Peer& peer : g_peers) {
    if (peer.fd >= 0) continue;
    peer = {static_cast<int>(fd), 0};
    return;
  }
  close(fd);
}

// The caller went away: its command goes too, even if it has not begun yet.
void abandon(const Peer& peer) {
  call(__NR_kill, -peer.pid, kSigTerm);
  for (Start& start : g_starts) {
    if (start.peer != &peer) continue;
    call(__NR_kill, start.pid, kSigKill);
    forget(start);
  }
}

// A peer sends one kSpawn, then signals to what that began, and waits for its exit; it is hostile, so nothing here
// waits for it.
void serve_peer(Peer& peer) {
  Descriptors descriptors;
  const long size = receive(peer.fd, g_packet, sizeof g_packet, descriptors, kDontWait);
  if (size == -kEAGAIN) return;
  Request request{};
  const char* strings = nullptr;
  const bool sound = size > 0 && decode(g_packet, static_cast<size_t>(size), request, strings);
  if (sound && peer.pid > 0 && request.op == Op::kSignal) {
    call(__NR_kill, -peer.pid, request.flags);
    return;
  }
  if (sound && peer.pid == 0 && request.op == Op::kSpawn) {
    // Who may become root here may become anybody, whoever that is. All ones would leave the ids as they are: ours.
    const bool somebody = request.uid != kNobody && request.gid != kNobody;
    request.flags &= kDirectoryByFd | kTerminal;
    const long pid = somebody ? begin(request, strings, descriptors, &peer) : -kEINVAL;
    if (pid > 0) {
      peer.pid = static_cast<int>(pid);
      return;
    }
    send(peer.fd, {request.id, ReplyKind::kDone, static_cast<int>(pid), 0, 0, 0, 0}, -1, kDontWait);
  }
  if (peer.pid > 0) abandon(peer);
  drop(peer);
}

void reap() {
  for (;;) {
    int status = 0;
    struct {
      long user_s, user_us, system_s, system_us, max_rss, rest[13];
    } usage{};
    const long pid = call(__NR_wait4, -1, address(&status), 1 /* WNOHANG */, address(&usage));
    if (pid <= 0) return;
    for (Start& start : g_starts) {
      if (start.pid == pid) finish(start);  // that it began is told before that it ended
    }
    const Reply reply{0,
                      ReplyKind::kExit,
                      static_cast<int>(pid),
                      status,
                      static_cast<uint64_t>(usage.user_s * 1000000 + usage.user_us),
                      static_cast<uint64_t>(usage.system_s * 1000000 + usage.system_us),
                      static_cast<uint64_t>(usage.max_rss)};
    if (int* slot = slot_of(static_cast<int>(pid)); slot != nullptr) {
      *slot = 0;
      send(kControlFd, reply, -1, 0);
    }
    for (Peer& peer : g_peers) {
      if (peer.fd < 0 || peer.pid != pid) continue;
      send(peer.fd, reply, -1, kDontWait);
      drop(peer);
    }
  }
}

long open_null_stdio() {
  static const char null[] = "/dev/null";
  const long fd = call(__NR_openat, kAtFdCwd, address(null), kReadWrite | kCloexec, 0);
  for (long i = 0; i < 3 && fd >= 0; ++i) call(__NR_dup2, fd, i);
  if (fd > 2) close(fd);
  return fd;
}

int run() {
  call(__NR_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);  // /proc/1/{mem,fd,exe} stay closed to root inside
  constexpr long kDupCloexec = 2;
  call(__NR_fcntl, kControlFd, kDupCloexec, 1);  // F_SETFD, FD_CLOEXEC
  open_null_stdio();
  const uint64_t everything = ~0ull, child_exit = 1ull << (kSigChld - 1);
  call(__NR_rt_sigprocmask, 0, address(&everything), 0, sizeof everything);
  const long signals = call(__NR_signalfd4, -1, address(&child_exit), sizeof child_exit, kCloexec | kNonblock);
  if (signals < 0) return 1;
  send(kControlFd, {0, ReplyKind::kReady, 0, 0, 0, 0, 0}, -1, 0);
  for (;;) {
    // Who asks for more at once than can be started waits in the socket for those before. The engine's end is heard all
    // the same: what runs inside can stop the ones that start.
    const short wanted = has_room() ? kPollIn : 0;
    PollFd fds[3 + kMaxPeers + kMaxStarts] = {
        {kControlFd, wanted, 0}, {static_cast<int>(signals), kPollIn, 0}, {g_listener, kPollIn, 0}};
    for (int i = 0; i < kMaxPeers; ++i) fds[3 + i] = {g_peers[i].fd, kPollIn, 0};
    for (int i = 0; i < kMaxStarts; ++i) fds[3 + kMaxPeers + i] = {g_starts[i].outcome, kPollIn, 0};
    // Root inside may take its descriptors' limit away: then it ends, and the sandbox with it, rather than go on deaf.
    if (const long n = call(__NR_poll, address(fds), 3 + kMaxPeers + kMaxStarts, -1); n < 0) {
      if (n == -kEINTR) continue;
      return 1;
    }
    if (fds[1].revents != 0) {
      char drained[1024];
      call(__NR_read, signals, address(drained), sizeof drained);
      reap();
    }
    for (int i = 0; i < kMaxStarts; ++i) {
      if (fds[3 + kMaxPeers + i].revents != 0 && g_starts[i].outcome == fds[3 + kMaxPeers + i].fd) finish(g_starts[i]);
    }
    if (fds[0].revents != 0 && !serve_engine()) return 0;
    for (int i = 0; i < kMaxPeers; ++i) {
      if (fds[3 + i].revents != 0 && g_peers[i].fd == fds[3 + i].fd) serve_peer(g_peers[i]);
    }
    if (fds[2].revents != 0) accept_peer();
  }
}

}  // namespace
}  // namespace bj::ward

extern "C" [[noreturn]] void warden_start() {
  bj::raw::call(__NR_exit_group, bj::ward::run());
  __builtin_unreachable();
}
asm(".globl _start\n_start:\n  xor %ebp, %ebp\n  and $-16, %rsp\n  call warden_start\n");
