// `sudo` inside a sandbox. A setuid program can't work under no_new_privs, so this asks the warden to run the command
// as root inside, with our stdio and our working directory, and passes its exit status on. No C library: any image
// works.
#include <initializer_list>

#include "warden/kernel.h"

namespace bj::ward {
namespace {

char g_packet[kMaxMessage];
size_t g_size = 0;

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

// Options that scripts pass and that mean nothing here. "-u root" is what happens anyway.
int skip_options(int argc, char** argv) {
  int i = 1;
  while (i < argc && argv[i][0] == '-') {
    if (raw::same(argv[i], "--")) return i + 1;
    if (raw::same(argv[i], "-u") || raw::same(argv[i], "-g")) ++i;
    ++i;
  }
  return i;
}

bool build(int argc, char** argv, char** environment, int first) {
  Request request{};
  request.op = Op::kSpawn;
  request.flags = kDirectoryByFd;
  g_size = sizeof request;
  if (!put("/")) return false;
  for (int i = first; i < argc; ++i, ++request.argument_count) {
    if (!put(argv[i])) return false;
  }
  for (char** e = environment; *e != nullptr; ++e) {
    if (starts_with(*e, "HOME=") || starts_with(*e, "USER=") || starts_with(*e, "LD_")) continue;
    if (!put(*e)) return false;
    ++request.environment_count;
  }
  for (const char* fixed : {"HOME=/root", "USER=root"}) {
    if (!put(fixed)) return false;
    ++request.environment_count;
  }
  raw::copy(g_packet, &request, sizeof request);
  return true;
}

bool send_request(int socket, int directory) {
  IoVector part{g_packet, g_size};
  Rights rights{kRightsHeader + 4 * sizeof(int), 1, 1, {0, 1, 2, directory}};
  MessageHeader header{nullptr, 0, &part, 1, &rights, kRightsHeader + 4 * sizeof(int), 0};
  return call(__NR_sendmsg, socket, address(&header), kNoSignal) > 0;
}

int run(int argc, char** argv, char** environment) {
  const int first = skip_options(argc, argv);
  if (first >= argc) return complain("usage: sudo command [argument ...]\n");
  if (!build(argc, argv, environment, first)) return complain("sudo: the command line is too long\n");
  const long socket = call(__NR_socket, 1, 5 | kCloexec, 0);
  const UnixAddress name{1, "/run/belljar/sudo.sock"};
  if (call(__NR_connect, socket, address(&name), sizeof name) < 0)
    return complain("sudo: this sandbox does not allow it\n");
  static const char here[] = ".";
  const long directory = call(__NR_openat, kAtFdCwd, address(here), kOpenPath | kCloexec, 0);
  if (!send_request(static_cast<int>(socket), static_cast<int>(directory)))
    return complain("sudo: the warden refused\n");
  Reply reply{};
  while (call(__NR_read, socket, address(&reply), sizeof reply) == static_cast<long>(sizeof reply)) {
    if (reply.kind == ReplyKind::kDone && reply.value < 0) {
      complain("sudo: command not found or not executable\n");
      return 127;
    }
    if (reply.kind == ReplyKind::kExit) {
      return (reply.status & 0x7f) == 0 ? (reply.status >> 8) & 0xff : 128 + (reply.status & 0x7f);
    }
  }
  return complain("sudo: the warden is gone\n");
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
