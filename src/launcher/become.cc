#include "launcher/become.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <cstring>

#include "launcher/wire.h"
#include "sys/files.h"
#include "sys/raw.h"

namespace bj {
namespace {

constexpr long kCloseRangeUnshare = 2;

// Between clone and exec: no allocation, so not receive_message().
bool receive_mounts(int late, CarryOut& state) {
  uint8_t slots[kMaxSlots] = {};
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxSlots * sizeof(int))] = {};
  iovec part{slots, sizeof slots};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  const long n = raw::call(__NR_recvmsg, late, raw::address(&header), MSG_CMSG_CLOEXEC);
  if (n <= 0) return false;
  const cmsghdr* rights = CMSG_FIRSTHDR(&header);
  if (rights == nullptr || rights->cmsg_len != CMSG_LEN(static_cast<size_t>(n) * sizeof(int))) return false;
  for (long i = 0; i < n; ++i) {
    if (slots[i] >= kMaxSlots) return false;
    std::memcpy(&state.slots[slots[i]], CMSG_DATA(rights) + i * sizeof(int), sizeof(int));
  }
  return true;
}

// With CLONE_FILES a clone costs nothing for each descriptor that the launcher keeps, and what lies above those in use
// is never copied.
bool leave_table(const CarryOut& state, int late, int launchers_end) {
  int highest = late;
  for (const int fd : state.slots) highest = fd > highest ? fd : highest;
  if (raw::call(raw::kNrCloseRange, highest + 1, ~0u, kCloseRangeUnshare) != 0) return false;
  if (launchers_end <= highest) raw::call(__NR_close, launchers_end);
  return raw::call(__NR_sendto, late, raw::address("L"), 1, MSG_NOSIGNAL) == 1;
}

}  // namespace

void become_sandbox(const PlanView& plan, CarryOut& state, int late, int launchers_end) {
  Failure failure{0, EPIPE};
  if (leave_table(state, late, launchers_end) && receive_mounts(late, state)) failure = carry_out(plan, state);
  const launch::PlanFailed report{launch::kPlanFailedMagic, failure.step, failure.error};
  // The control socket may already be descriptor 3 or still be in its slot.
  raw::call(__NR_sendto, state.slots[kSlotControl], raw::address(&report), sizeof report, MSG_NOSIGNAL);
  raw::call(__NR_exit_group, 1);
  __builtin_unreachable();
}

Result<void> write_id_maps(int pid, const IdMap& ids) {
  const std::string map = fmt::format("{} {} {}", ids.inside, ids.outside, ids.count);
  const std::string base = fmt::format("/proc/{}/", pid);
  BJ_CHECK(put_text(AT_FDCWD, base + "uid_map", map));
  return put_text(AT_FDCWD, base + "gid_map", map);
}

}  // namespace bj
