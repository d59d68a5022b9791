// Whose time is over when. Pure: told the time, it tells who is due.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace bj {

class Deadlines {
 public:
  // Again to move it.
  void set(const std::string& id, int64_t when) {
    forget(id);
    times_[id] = when;
    order_.emplace(when, id);
  }
  void forget(const std::string& id) {
    const auto found = times_.find(id);
    if (found == times_.end()) return;
    order_.erase({found->second, id});
    times_.erase(found);
  }
  // Those whose time has come, the longest due first; each is told once.
  std::vector<std::string> take_due(int64_t now) {
    std::vector<std::string> due;
    while (!order_.empty() && order_.begin()->first <= now) {
      due.push_back(order_.begin()->second);
      times_.erase(due.back());
      order_.erase(order_.begin());
    }
    return due;
  }
  std::optional<int64_t> next() const {
    return order_.empty() ? std::nullopt : std::optional<int64_t>(order_.begin()->first);
  }

 private:
  std::map<std::string, int64_t> times_;
  std::set<std::pair<int64_t, std::string>> order_;
};

}  // namespace bj
