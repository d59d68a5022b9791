#include "server/throttle.h"

#include <algorithm>
#include <functional>

namespace bj {
namespace {

size_t mark_of(const std::string& peer, std::string_view credential) {
  return std::hash<std::string>()(peer + "\n" + std::string(credential)) | 1;  // never an empty place's 0
}

}  // namespace

bool AuthThrottle::holds_off(const std::string& peer, std::string_view credential, Clock::time_point now) const {
  const auto found = failing_.find(peer);
  if (found == failing_.end() || found->second.failures < kMostFailures || now - found->second.since > kWindow)
    return false;
  const size_t mark = mark_of(peer, credential);
  const Latest& good = good_[place_of(mark)];
  return std::find(good.begin(), good.end(), mark) == good.end();
}

void AuthThrottle::failed(const std::string& peer, Clock::time_point now) {
  if (failing_.size() >= kMostPeers && !failing_.contains(peer)) forget_old(now);
  Failing& entry = failing_[peer];
  if (now - entry.since > kWindow) entry = {0, now};
  // Held off for a whole window from the failure that was one too many.
  if (++entry.failures == kMostFailures) entry.since = now;
}

void AuthThrottle::succeeded(const std::string& peer, std::string_view credential) {
  const size_t mark = mark_of(peer, credential);
  Latest& good = good_[place_of(mark)];
  const auto known = std::find(good.begin(), good.end() - 1, mark);  // else the last one goes
  std::rotate(good.begin(), known, known + 1);
  good.front() = mark;
}

void AuthThrottle::forget_old(Clock::time_point now) {
  std::erase_if(failing_, [&](const auto& entry) { return now - entry.second.since > kWindow; });
  if (failing_.size() < kMostPeers) return;
  failing_.erase(std::min_element(failing_.begin(), failing_.end(), [](const auto& left, const auto& right) {
    return left.second.since < right.second.since;
  }));
}

}  // namespace bj
