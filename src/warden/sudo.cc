// `sudo` inside a sandbox. A setuid program can't work under no_new_privs, so this asks the warden to run the command
// as root inside, or as another of its users, in our working directory, and passes its exit status on. The command has
// our stdio, or, if that is a terminal, one of its own that we relay (sudo_terminal.h). No C library: any image works.
#include <initializer_list>

#include "warden/kernel.h"
#include "warden/sudo_terminal.h"
#include "warden/sudo_wish.h"

namespace bj::ward {
namespace {

constexpr int kNotFound = 127;
constexpr size_t kMostAccounts = 256 * 1024;
// The caller's own may lack sbin, where what root runs lies. Of templates, the default (default_path() of the engine).
constexpr const char* kSecurePath = "/opt/belljar/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

char g_packet[kMaxMessage];
size_t g_size = 0;
char g_accounts[kMostAccounts + 1];

// A command line, and whom its command is to be.
struct Asked {
  int argc;
  char** argv;
  char** environment;
  Wish wish;
  User user;
  bool terminal;
};

bool put(const char* text, const char* more = "") {
  const size_t n = raw::length(text), rest = raw::length(more) + 1;
  if (g_size + n + rest > sizeof g_packet) return false;
  raw::copy(g_packet + g_size, text, n);
  raw::copy(g_packet + g_size + n, more, rest);
  g_size += n + rest;
  return true;
}

void say(int fd, const char* text) { call(__NR_write, fd, address(text), static_cast<long>(raw::length(text))); }

int complain(const char* text) {
  say(2, text);
  return 1;
}

// What of /etc/passwd fits, whole lines only.
void read_accounts() {
  static const char path[] = "/etc/passwd";
  const long fd = call(__NR_openat, kAtFdCwd, address(path), kCloexec, 0);
  size_t size = 0;
  for (long n = 1; n > 0 && size < kMostAccounts; size += n > 0 ? static_cast<size_t>(n) : 0)
    n = call(__NR_read, fd, address(g_accounts + size), static_cast<long>(kMostAccounts - size));
  close(fd);
  while (size == kMostAccounts && g_accounts[size - 1] != '\n') g_accounts[--size] = 0;
}

// Root needs no account: there are images without any.
bool choose_user(const char* wanted, User& user) {
  if (wanted == nullptr || raw::same(wanted, "root") || raw::same(wanted, "#0")) return true;
  read_accounts();
  return find_user(g_accounts, wanted, user);
}

// A shell, with the command if there is one.
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

// Each name once: programs differ in which of two they take. What the command line sets goes before what we set, and
// that before the caller's.
bool put_environment(const Asked& asked, Request& request) {
  const struct {
    const char* name;
    const char* value;
  } own[] = {
      {"PATH=", kSecurePath}, {"HOME=", asked.user.home}, {"USER=", asked.user.name}, {"LOGNAME=", asked.user.name}};
  const auto assigned = [&](const char* variable) {
    bool found = false;
    for (int i = asked.wish.assignments; i < asked.wish.first; ++i) found |= same_name(asked.argv[i], variable);
    return found;
  };
  uint32_t& count = request.environment_count;
  for (char** e = asked.environment; *e != nullptr; ++e) {
    bool skipped = starts_with(*e, "LD_") || assigned(*e);
    for (const auto& variable : own) skipped |= same_name(*e, variable.name);
    if (skipped) continue;
    if (!put(*e)) return false;
    ++count;
  }
  for (const auto& variable : own) {
    if (assigned(variable.name)) continue;
    if (!put(variable.name, variable.value)) return false;
    ++count;
  }
  for (int i = asked.wish.assignments; i < asked.wish.first; ++i, ++count) {
    if (!put(asked.argv[i])) return false;
  }
  return true;
}

// A login begins at home, where there is one.
const char* directory_of(const Asked& asked) {
  const char* home = asked.user.home;
  return asked.wish.login && home[0] == '/' && call(__NR_access, address(home), 0) != -kENOENT ? home : "/";
}

bool build(const Asked& asked) {
  const Wish& wish = asked.wish;
  Request request{};
  request.op = Op::kSpawn;
  request.flags = (wish.login ? 0u : uint32_t{kDirectoryByFd}) | (asked.terminal ? uint32_t{kTerminal} : 0u);
  const WindowSize size = asked.terminal ? window_size() : WindowSize{};
  request.rows = size.rows;
  request.columns = size.columns;
  request.uid = asked.user.uid;
  request.gid = asked.user.gid;
  g_size = sizeof request;
  if (!put(directory_of(asked))) return false;
  if (wish.shell && !put_shell(wish, wish.first < asked.argc, request)) return false;
  for (int i = wish.first; i < asked.argc; ++i, ++request.argument_count) {
    if (!put(asked.argv[i])) return false;
  }
  if (!put_environment(asked, request)) return false;
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

int tell_failure(long error, const User& user) {
  if (error == -kEINVAL && user.uid != 0) {
    complain("sudo: this sandbox has no place for the ids of that user\n");
  } else {
    complain(error == -kEIO || error == -kEINVAL ? "sudo: the warden refused\n"
                                                 : "sudo: command not found or not executable\n");
  }
  return kNotFound;
}

int run_command(int socket, int signals, const Asked& asked) {
  Descriptors descriptors;
  const long started = await_start(socket, descriptors);
  if (started < 0) return tell_failure(started, asked.user);
  int status = -1;
  if (asked.terminal && descriptors.count == 1) {
    const RawTerminal raw;
    Relay relay(descriptors.fds[0]);
    status = attend(socket, signals, &relay, descriptors.fds[0]);
  } else {
    status = attend(socket, signals, nullptr, -1);
  }
  return status >= 0 ? status : complain("sudo: the warden is gone\n");
}

int ask_for(const Asked& asked, int socket) {
  if (!build(asked)) return complain("sudo: the command line is too long\n");
  static const char here[] = ".";
  const long directory = asked.wish.login ? -1 : call(__NR_openat, kAtFdCwd, address(here), kOpenPath | kCloexec, 0);
  const int signals = static_cast<int>(open_signals());  // before there is a command that they could miss
  if (!send_request(socket, !asked.terminal, static_cast<int>(directory)))
    return complain("sudo: the warden refused\n");
  return run_command(socket, signals, asked);
}

int refuse(const Wish& wish) {
  const char text[] = {'-', wish.impossible, '\n', 0};
  complain("sudo: not possible here: ");
  return complain(text);
}

int run(int argc, char** argv, char** environment) {
  Asked asked{argc, argv, environment, read_wish(argc, argv), {}, have_terminal()};
  const Wish& wish = asked.wish;
  if (wish.impossible != 0) return refuse(wish);
  if (wish.task == Task::kRun && wish.first >= argc && !wish.shell)
    return complain("usage: sudo [-u user] [-i | -s] [NAME=value ...] [command [argument ...]] | -v | -l\n");
  if (!choose_user(wish.user, asked.user)) {
    complain("sudo: unknown user: ");
    complain(wish.user);
    return complain("\n");
  }
  const long socket = call(__NR_socket, 1, 5 | kCloexec, 0);
  const UnixAddress name{1, "/run/belljar/sudo.sock"};
  if (call(__NR_connect, socket, address(&name), sizeof name) < 0)
    return complain("sudo: this sandbox does not allow it\n");
  if (wish.task == Task::kRun) return ask_for(asked, static_cast<int>(socket));
  if (wish.task == Task::kList) say(1, "Here you may run the following commands:\n    (ALL) NOPASSWD: ALL\n");
  return 0;
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
