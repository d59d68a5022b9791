#include "warden/spawn.h"

namespace bj::ward {
namespace {

constexpr unsigned long kSetWindowSize = 0x5414, kUnlockPty = 0x40045431, kPtyNumber = 0x80045430,
                        kSetTerminal = 0x540E;
constexpr long kDup = 0, kFirstFree = 64;
constexpr size_t kPathMax = 4096;

// Filled before the clone, read by the child.
struct Job {
  const Request* request;
  const char* directory;
  const char** arguments;
  const char** environment;
  int stdio[3];
  const int* extra;
  int extra_count;
  int directory_fd;
  int outcome;  // where the child writes why it could not execute; closed by a successful exec
};

const char* g_pointers[kMaxStrings + 2];  // argv and envp, each ends with a null
char g_path[kPathMax];

const char* next(const char* text) { return text + raw::length(text) + 1; }

void set_pointers(const Request& request, const char* strings, Job& job) {
  job.directory = strings;
  const char* at = next(strings);
  size_t n = 0;
  job.arguments = g_pointers;
  for (uint32_t i = 0; i < request.argument_count; ++i, at = next(at)) g_pointers[n++] = at;
  g_pointers[n++] = nullptr;
  job.environment = g_pointers + n;
  for (uint32_t i = 0; i < request.environment_count; ++i, at = next(at)) g_pointers[n++] = at;
  g_pointers[n] = nullptr;
}

long open_terminal(const Request& request, int& slave) {
  static const char ptmx[] = "/dev/ptmx";
  const long master = call(__NR_openat, kAtFdCwd, address(ptmx), kReadWrite | kNoctty | kCloexec, 0);
  if (master < 0) return master;
  int unlock = 0, number = 0;
  call(__NR_ioctl, master, kUnlockPty, address(&unlock));
  call(__NR_ioctl, master, kPtyNumber, address(&number));
  char path[32] = "/dev/pts/";
  char digits[12];
  size_t count = 0, at = 9;
  do digits[count++] = static_cast<char>('0' + number % 10);
  while ((number /= 10) != 0);
  while (count != 0) path[at++] = digits[--count];
  const uint16_t size[4] = {request.rows, request.columns, 0, 0};
  call(__NR_ioctl, master, kSetWindowSize, address(size));
  const long fd = call(__NR_openat, kAtFdCwd, address(path), kReadWrite | kNoctty | kCloexec, 0);
  if (fd < 0) {
    close(master);
    return fd;
  }
  slave = static_cast<int>(fd);
  return master;
}

[[noreturn]] void give_up(const Job& job, long error) {
  call(__NR_write, job.outcome, address(&error), sizeof error);
  call(__NR_exit_group, 127);
  __builtin_unreachable();
}

// Stdio at 0, 1, 2, the extra ones after them, the outcome's pipe last; nothing else stays open.
void place_descriptors(Job& job) {
  int lifted[3 + kMaxDescriptors];
  job.outcome = static_cast<int>(call(__NR_fcntl, job.outcome, kDup, kFirstFree));
  for (int i = 0; i < 3; ++i) lifted[i] = static_cast<int>(call(__NR_fcntl, job.stdio[i], kDup, kFirstFree));
  for (int i = 0; i < job.extra_count; ++i)
    lifted[3 + i] = static_cast<int>(call(__NR_fcntl, job.extra[i], kDup, kFirstFree));
  for (int i = 0; i < 3 + job.extra_count; ++i) call(__NR_dup2, lifted[i], i);
  const int last = 3 + job.extra_count;
  job.outcome = static_cast<int>(call(__NR_dup3, job.outcome, last, kCloexec));
  call(raw::kNrCloseRange, last + 1, ~0u, 0);
}

// A process of another user keeps no capability; root inside keeps the sandbox's set.
long become(uint32_t uid, uint32_t gid) {
  if (call(__NR_getuid) == static_cast<long>(uid)) return 0;
  raw::drop_bounding(0);
  call(__NR_setgroups, 0, 0);
  if (const long r = call(__NR_setresgid, gid, gid, gid); r < 0) return r;
  return call(__NR_setresuid, uid, uid, uid);
}

const char* value_of(const char** environment, const char* name) {
  for (; *environment != nullptr; ++environment) {
    const char* at = *environment;
    const char* key = name;
    while (*key != 0 && *at == *key) ++at, ++key;
    if (*key == 0 && *at == '=') return at + 1;
  }
  return nullptr;
}

// As execvp(3): a name without a slash is looked for along PATH of the new environment.
long execute(const Job& job) {
  const char* name = job.arguments[0];
  bool has_slash = false;
  for (const char* c = name; *c != 0; ++c) has_slash |= *c == '/';
  if (has_slash) return call(__NR_execve, address(name), address(job.arguments), address(job.environment));
  const char* path = value_of(job.environment, "PATH");
  if (path == nullptr) path = "/usr/local/bin:/usr/bin:/bin";
  const size_t name_size = raw::length(name);
  if (name_size + 2 > kPathMax) return -kENAMETOOLONG;
  long result = -kENOENT;
  while (*path != 0) {
    size_t n = 0;
    for (; *path != 0 && *path != ':'; ++path) {
      if (n + name_size + 2 < kPathMax) g_path[n++] = *path;
    }
    if (*path == ':') ++path;
    g_path[n++] = '/';
    raw::copy(g_path + n, name, name_size + 1);
    const long r = call(__NR_execve, address(g_path), address(job.arguments), address(job.environment));
    if (r == -kEACCES || result == -kENOENT) result = r;
  }
  return result;
}

// By /dev/null programs know that nobody feeds them: a pipe is read by some that would look at files.
void feed_nothing() {
  static const char null[] = "/dev/null";
  const long fd = call(__NR_openat, kAtFdCwd, address(null), kNoctty | kCloexec, 0);
  if (fd < 0) return;
  call(__NR_dup2, fd, 0);
  close(static_cast<int>(fd));
}

[[noreturn]] void run(Job& job) {
  const uint64_t none = 0;
  call(__NR_rt_sigprocmask, 2, address(&none), 0, sizeof none);
  call(__NR_setsid);
  if (job.directory_fd >= 0) call(__NR_fchdir, job.directory_fd);
  const bool terminal = (job.request->flags & kTerminal) != 0;
  place_descriptors(job);
  if (terminal) call(__NR_ioctl, 0, kSetTerminal, 0);
  if (const long r = become(job.request->uid, job.request->gid); r < 0) give_up(job, r);
  if ((job.request->flags & kNoInput) != 0) feed_nothing();
  if (job.directory_fd < 0) {
    if (const long r = call(__NR_chdir, address(job.directory)); r < 0) give_up(job, r);
  }
  give_up(job, execute(job));
}

}  // namespace

Spawned spawn(const Request& request, const char* strings, const Descriptors& descriptors) {
  Job job{&request, nullptr, nullptr, nullptr, {-1, -1, -1}, nullptr, 0, -1, -1};
  set_pointers(request, strings, job);
  const bool terminal = (request.flags & kTerminal) != 0;
  const int stdio_count = terminal ? 0 : 3;
  int count = descriptors.count;
  if ((request.flags & kDirectoryByFd) != 0 && count > 0) job.directory_fd = descriptors.fds[--count];
  if (count < stdio_count) return {-kEINVAL, -1, -1};
  int outcome[2] = {-1, -1};
  if (const long r = call(__NR_pipe2, address(outcome), kCloexec | kNonblock); r < 0) return {r, -1, -1};
  job.outcome = outcome[1];
  int slave = -1;
  const long master = terminal ? open_terminal(request, slave) : -1;
  for (int i = 0; i < 3; ++i) job.stdio[i] = terminal ? slave : descriptors.fds[i];
  job.extra = descriptors.fds + stdio_count;
  job.extra_count = count - stdio_count;

  const long pid = terminal && master < 0 ? master : call(__NR_clone, kSigChld, 0, 0, 0, 0);
  if (pid == 0) run(job);
  close(slave);
  close(outcome[1]);
  if (pid > 0) return {pid, master, outcome[0]};
  close(outcome[0]);
  close(master);
  return {pid, -1, -1};
}

long outcome_of(int outcome) {
  long error = 0;
  const long n = call(__NR_read, outcome, address(&error), sizeof error);
  if (n == static_cast<long>(sizeof error)) return error < 0 ? error : -kEIO;
  return n == -kEAGAIN ? -kEAGAIN : 0;
}

}  // namespace bj::ward
