#include "seal/call_networks.h"

#include <linux/sched.h>

#include "seal/carry_out.h"
#include "sys/raw.h"

namespace bj {
namespace {

using raw::address;
using raw::call;
using raw::kAtFdCwd;

constexpr long kReadOnly = 02000000;  // O_RDONLY | O_CLOEXEC

enum class Part : uint8_t { kWhole, kFirstLine };

struct Told {
  const char* path;
  Part part;
};

// Without IPv6 the last two are not there, in a fresh namespace neither.
constexpr Told kTold[] = {
    {"/proc/thread-self/net/sockstat", Part::kFirstLine},  // sockets of all families; what follows is of the whole
                                                           // machine
    {"/proc/thread-self/net/dev", Part::kWhole},           // packets on the loopback, and there is nothing else
    {"/proc/thread-self/net/snmp", Part::kWhole},
    {"/proc/thread-self/net/netstat", Part::kWhole},
    {"/proc/thread-self/net/snmp6", Part::kWhole},
    {"/proc/thread-self/net/rt6_stats", Part::kWhole},
};
constexpr size_t kNeeded = 4;

size_t first_line(const char* text, size_t size) {
  size_t n = 0;
  while (n < size && text[n] != '\n') ++n;
  return n;
}

// Its size, 0 if it is not there or does not fit.
size_t read_told(const Told& told, char* into, size_t room) {
  const long fd = call(__NR_openat, kAtFdCwd, address(told.path), kReadOnly, 0);
  if (fd < 0) return 0;
  size_t size = 0;
  long n = 0;
  while (size < room && (n = call(__NR_read, fd, address(into + size), static_cast<long>(room - size))) > 0) {
    size += static_cast<size_t>(n);
  }
  call(__NR_close, fd);
  if (n != 0) return 0;
  return told.part == Part::kFirstLine ? first_line(into, size) : size;
}

// What is told of the namespace that the process is in; 0 if something of it is missing.
size_t read_all_told(char* into, size_t room) {
  size_t size = 0, read = 0;
  for (const Told& told : kTold) {
    const size_t n = read_told(told, into + size, room - size);
    if (n == 0 && read < kNeeded) return 0;
    size += n;
    ++read;
  }
  return size;
}

bool same(const char* a, const char* b, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

long loopback_up() {
  const Step step{Op::kLoopbackUp, Control::kNone, 0, 1, 0, 0, 0, 0};
  const char strings[1] = {0};
  CarryOut state{};
  for (int& slot : state.slots) slot = -1;
  return -carry_out({&step, 1, strings, 1}, state).error;
}

int own_network() {
  return static_cast<int>(call(__NR_openat, kAtFdCwd, address("/proc/thread-self/ns/net"), kReadOnly, 0));
}

void close(int fd) {
  if (fd >= 0) call(__NR_close, fd);
}

}  // namespace

long CallNetworks::make() {
  if (const long r = call(__NR_unshare, CLONE_NEWNET); r < 0) return r;
  if (const long r = loopback_up(); r < 0) return r;
  if (fresh_size_ == 0) fresh_size_ = read_all_told(fresh_, sizeof fresh_);
  if (fresh_size_ != 0 && lent_count_ < kMostLent) current_ = own_network();
  return 0;
}

bool CallNetworks::enter_returned() {
  while (returned_count_ > 0) {
    const int network = returned_[--returned_count_];
    if (call(__NR_setns, network, CLONE_NEWNET) == 0) {
      const size_t size = read_all_told(now_, sizeof now_);
      if (size == fresh_size_ && same(now_, fresh_, size)) {
        current_ = network;
        return true;
      }
    }
    close(network);
  }
  return false;
}

long CallNetworks::prepare() {
  if (ready_) return 0;
  const long r = enter_returned() ? 0 : make();
  ready_ = r == 0;
  return r;
}

void CallNetworks::lend(uint32_t child) {
  if (current_ >= 0 && lent_count_ < kMostLent) {
    lent_[lent_count_++] = {child, current_};
  } else {
    close(current_);
  }
  current_ = -1;
  ready_ = false;
}

void CallNetworks::give_back(uint32_t child) {
  for (size_t i = 0; i < lent_count_; ++i) {
    if (lent_[i].child != child) continue;
    const int network = lent_[i].network;
    lent_[i] = lent_[--lent_count_];
    if (returned_count_ < kMostReturned) {
      returned_[returned_count_++] = network;
    } else {
      close(network);
    }
    return;
  }
}

}  // namespace bj
