// `sudo` inside a sandbox. A setuid program can't work under no_new_privs, so this asks the warden to run the command
// as root inside, in our working directory, and passes its exit status on. The command has our stdio, or, if that is a
// terminal, one of its own that we relay (sudo_terminal.h). No C library: any image works.
#include <initializer_list>

#include "warden/kernel.h"
#include "warden/sudo_terminal.h"

namespace bj::ward {
namespace {

constexpr int kNotFound = 127;

char g_packet[kMaxMessage];
size_t g_size = 0;

struct Wish {
  int first = 1;       // of the command's arguments
  bool shell = false;  // -s, -i
  bool login = false;  // -i
};

bool put(const char* text) {
  const size_t n = raw::length(text) + 1;
  if (g_size + n > sizeof g_packet) return false;
  raw::copy(g_packet + g_size, text, n);
  g_size += n;
  return true;
}

int complain(const char* text) {
  call(__NR_write, 2, address(text), static_cast<long>(raw::length(text)));
  return 1;
}

bool starts_with(const char* text, const char* prefix) {
  while (*prefix != 0 && *text == *prefix) ++text, ++prefix;
  return *prefix == 0;
}

// Options that scripts pass and that mean nothing here are passed over. "-u root" is what happens anyway.
Wish read_options(int argc, char** argv) {
  Wish wish;
  int& i = wish.first;
  for (; i < argc && argv[i][0] == '-'; ++i) {
    if (raw::same(argv[i], "--")) {
      ++i;
      break;
    }
    if (raw::same(argv[i], "-u") || raw::same(argv[i], "-g")) ++i;
    wish.login |= raw::same(argv[i], "-i") || raw::same(argv[i], "--login");
    wish.shell |= wish.login || raw::same(argv[i], "-s") || raw::same(argv[i], "--shell");
  }
  return wish;
}

// The shell of root, with the command if there is one.
bool put_shell(const Wish& wish, bool with_command, Request& request) {
  static const char bash[] = "/bin/bash";
  const bool has_bash = call(__NR_access, address(bash), 1) == 0;
  if (!put(has_bash ? bash : "/bin/sh")) return false;
  ++request.argument_count;
  if (wish.login && !put("-l")) return false;
  request.argument_count += wish.login ? 1 : 0;
  if (!with_command) return true;
  request.argument_count += 3;
  return put("-c") && put("exec \"$@\"") && put("sudo");
}

bool build(int argc, char** argv, char** environment, const Wish& wish, bool terminal) {
  Request request{};
  request.op = Op::kSpawn;
  request.flags = (wish.login ? 0u : uint32_t{kDirectoryByFd}) | (terminal ? uint32_t{kTerminal} : 0u);
  const WindowSize size = terminal ? window_size() : WindowSize{};
  request.rows = size.rows;
  request.columns = size.columns;
  g_size = sizeof request;
  if (!put(wish.login ? "/root" : "/")) return false;
  if (wish.shell && !put_shell(wish, wish.first < argc, request)) return false;
  for (int i = wish.first; i < argc; ++i, ++request.argument_count) {
    if (!put(argv[i])) return false;
  }
  for (char** e = environment; *e != nullptr; ++e) {
    if (starts_with(*e, "HOME=") || starts_with(*e, "USER=") || starts_with(*e, "LOGNAME=") || starts_with(*e, "LD_"))
      continue;
    if (!put(*e)) return false;
    ++request.environment_count;
  }
  for (const char* fixed : {"HOME=/root", "USER=root", "LOGNAME=root"}) {
    if (!put(fixed)) return false;
    ++request.environment_count;
  }
  raw::copy(g_packet, &request, sizeof request);
  return true;
}

// Stdio, unless the command gets a terminal; then the directory.
bool send_request(int socket, bool stdio, int directory) {
  Rights rights{kRightsHeader, 1, 1, {}};
  int count = 0;
  for (int fd = 0; stdio && fd < 3; ++fd) rights.fds[count++] = fd;
  if (directory >= 0) rights.fds[count++] = directory;
  rights.size += static_cast<size_t>(count) * sizeof(int);
  IoVector part{g_packet, g_size};
  MessageHeader header{nullptr, 0, &part, 1, count > 0 ? &rights : nullptr, count > 0 ? rights.size : 0, 0};
  return call(__NR_sendmsg, socket, address(&header), kNoSignal) > 0;
}

void send_signal(int socket, uint32_t signal) {
  Request request{};
  request.op = Op::kSignal;
  request.flags = signal;
  call(__NR_write, socket, address(&request), sizeof request);
}

// Signals to us are the command's.
long open_signals() {
  uint64_t set = 0;
  for (const long s : {kSigHup, kSigInt, kSigQuit, kSigTerm, kSigUsr1, kSigUsr2, kSigWindow}) set |= 1ull << (s - 1);
  call(__NR_rt_sigprocmask, 0, address(&set), 0, sizeof set);
  return call(__NR_signalfd4, -1, address(&set), sizeof set, kCloexec | kNonblock);
}

void pass_signals(int signals, int socket, Relay* relay) {
  struct {
    uint32_t number;
    uint8_t rest[124];
  } one{};
  while (call(__NR_read, signals, address(&one), sizeof one) == static_cast<long>(sizeof one)) {
    if (one.number != kSigWindow) send_signal(socket, one.number);
    if (one.number == kSigWindow && relay != nullptr) relay->resize();
  }
}

int status_of(const Reply& reply) {
  return (reply.status & 0x7f) == 0 ? (reply.status >> 8) & 0xff : 128 + (reply.status & 0x7f);
}

// Until the command has ended: its exit status; -1 when the warden is gone.
int attend(int socket, int signals, Relay* relay, int master) {
  bool open = relay != nullptr;
  for (;;) {
    PollFd fds[4] = {{socket, kPollIn, 0},
                     {signals, kPollIn, 0},
                     {open ? master : -1, open ? relay->wanted_of_master() : kPollIn, 0},
                     {open && relay->wants_input() ? 0 : -1, kPollIn, 0}};
    if (call(__NR_poll, address(fds), 4, -1) < 0) continue;
    if (fds[1].revents != 0) pass_signals(signals, socket, relay);
    if ((fds[2].revents & Relay::kPollOut) != 0) relay->write_input();
    if ((fds[2].revents & ~Relay::kPollOut) != 0) open = relay->pass_output();
    if (fds[3].revents != 0) relay->read_input();
    if (fds[0].revents == 0) continue;
    Reply reply{};
    if (call(__NR_read, socket, address(&reply), sizeof reply) != static_cast<long>(sizeof reply)) return -1;
    if (reply.kind != ReplyKind::kExit) continue;
    if (open) relay->pass_output();
    return status_of(reply);
  }
}

// The first answer: whether it runs, and, if it was asked for, its terminal.
long await_start(int socket, Descriptors& descriptors) {
  Reply reply{};
  const long n = receive(socket, &reply, sizeof reply, descriptors, 0);
  return n == static_cast<long>(sizeof reply) && reply.kind == ReplyKind::kDone ? reply.value : -kEIO;
}

int run_command(int socket, int signals, bool terminal) {
  Descriptors descriptors;
  const long started = await_start(socket, descriptors);
  if (started < 0) {
    complain(started == -kEIO ? "sudo: the warden refused\n" : "sudo: command not found or not executable\n");
    return kNotFound;
  }
  int status = -1;
  if (terminal && descriptors.count == 1) {
    const RawTerminal raw;
    Relay relay(descriptors.fds[0]);
    status = attend(socket, signals, &relay, descriptors.fds[0]);
  } else {
    status = attend(socket, signals, nullptr, -1);
  }
  return status >= 0 ? status : complain("sudo: the warden is gone\n");
}

int run(int argc, char** argv, char** environment) {
  const Wish wish = read_options(argc, argv);
  if (wish.first >= argc && !wish.shell) return complain("usage: sudo [-i | -s] [command [argument ...]]\n");
  const bool terminal = have_terminal();
  if (!build(argc, argv, environment, wish, terminal)) return complain("sudo: the command line is too long\n");
  const long socket = call(__NR_socket, 1, 5 | kCloexec, 0);
  const UnixAddress name{1, "/run/belljar/sudo.sock"};
  if (call(__NR_connect, socket, address(&name), sizeof name) < 0)
    return complain("sudo: this sandbox does not allow it\n");
  static const char here[] = ".";
  const long directory = wish.login ? -1 : call(__NR_openat, kAtFdCwd, address(here), kOpenPath | kCloexec, 0);
  const int signals = static_cast<int>(open_signals());  // before there is a command that they could miss
  if (!send_request(static_cast<int>(socket), !terminal, static_cast<int>(directory)))
    return complain("sudo: the warden refused\n");
  return run_command(static_cast<int>(socket), signals, terminal);
}

}  // namespace
}  // namespace bj::ward

// The kernel's stack at entry: argc, argv..., null, environment..., null.
extern "C" [[noreturn]] void sudo_start(long* stack) {
  const int argc = static_cast<int>(stack[0]);
  char** argv = reinterpret_cast<char**>(stack + 1);
  bj::raw::call(__NR_exit_group, bj::ward::run(argc, argv, argv + argc + 1));
  __builtin_unreachable();
}
asm(".globl _start\n_start:\n  xor %ebp, %ebp\n  mov %rsp, %rdi\n  and $-16, %rsp\n  call sudo_start\n");
