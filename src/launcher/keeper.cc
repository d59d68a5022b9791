#include "launcher/keeper.h"

#include <fcntl.h>

#include <algorithm>
#include <chrono>

#include "sys/pidfd.h"

namespace bj {
namespace {

constexpr int kFirstKept = 512;

// Where so high a number is not allowed it stays where it is.
void move_up(Fd& fd) {
  if (!fd.ok() || fd.get() >= kFirstKept) return;
  if (Fd high(::fcntl(fd.get(), F_DUPFD_CLOEXEC, kFirstKept)); high.ok()) fd = std::move(high);
}

bool is_living(const Kept& entry) {
  return entry.is_life && !entry.descriptors.empty() && !has_ended(entry.descriptors.front().get());
}

void kill_life(const Kept& entry) { kill_process(entry.descriptors.front().get()); }

}  // namespace

void Keeper::keep(const std::string& key, Kept entry) {
  const size_t slash = key.find('/');
  if (slash != std::string::npos && !entries_.contains(key.substr(0, slash))) return;
  move_up(entry.note);
  for (Fd& fd : entry.descriptors) move_up(fd);
  entries_[key] = std::move(entry);
}

void Keeper::move_deadline(const std::string& key, int64_t deadline_us) {
  if (const auto found = entries_.find(key); found != entries_.end()) found->second.deadline_us = deadline_us;
}

void Keeper::forget(const std::string& key) {
  entries_.erase(key);
  const std::string below = key + "/";
  auto at = entries_.lower_bound(below);
  while (at != entries_.end() && at->first.starts_with(below)) at = entries_.erase(at);
}

std::vector<int> Keeper::lives() const {
  std::vector<int> lives;
  for (const auto& [key, entry] : entries_) {
    if (is_living(entry)) lives.push_back(entry.descriptors.front().get());
  }
  return lives;
}

std::optional<int64_t> Keeper::next_deadline() const {
  std::optional<int64_t> next;
  for (const auto& [key, entry] : entries_) {
    if (entry.deadline_us == 0 || (next && *next <= entry.deadline_us)) continue;
    next = entry.deadline_us;
  }
  return next;
}

void Keeper::kill_due(int64_t now_us) {
  for (auto& [key, entry] : entries_) {
    if (entry.deadline_us == 0 || entry.deadline_us > now_us) continue;
    entry.deadline_us = 0;
    if (is_living(entry)) kill_life(entry);
  }
}

void Keeper::end_all(int patience_ms) {
  for (const auto& [key, entry] : entries_) {
    if (is_living(entry)) kill_life(entry);
  }
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(patience_ms);
  for (const auto& [key, entry] : entries_) {
    if (!entry.is_life || entry.descriptors.empty()) continue;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    (void)wait_for_end(entry.descriptors.front().get(), static_cast<int>(std::max<int64_t>(left.count(), 0)));
  }
  entries_.clear();
}

}  // namespace bj
