#include "launcher/wait_for_next.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "sys/wait.h"

namespace bj {
namespace {

constexpr int kPatienceForAnEndMs = 5000;
constexpr int64_t kLongestSleepMs = 1000;  // the clock may be set

int64_t now_us() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

int sleep_ms(const Keeper& keeper) {
  const std::optional<int64_t> next = keeper.next_deadline();
  if (!next) return -1;
  return static_cast<int>(std::clamp<int64_t>((*next - now_us() + 999) / 1000, 0, kLongestSleepMs));
}

}  // namespace

Fd wait_for_next(const Door& door, Keeper& keeper) {
  for (;;) {
    keeper.kill_due(now_us());
    std::vector<pollfd> fds{{door.listener.get(), POLLIN, 0}};
    for (const int life : keeper.lives()) fds.push_back({life, POLLIN, 0});
    if (fds.size() == 1) return {};
    if (wait_for_events(fds, sleep_ms(keeper)).value_or(0) == 0 || fds[0].revents == 0) continue;
    Visitor visitor = answer_door(door);
    if (visitor.wish == Visitor::Wish::kTake) {
      welcome(visitor);
      return std::move(visitor.socket);
    }
    if (visitor.wish == Visitor::Wish::kEnd) {
      keeper.end_all(kPatienceForAnEndMs);
      confirm_end(visitor);
      return {};
    }
  }
}

}  // namespace bj
