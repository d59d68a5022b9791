// What happened to one sandbox, in its last so many lines, for people.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <utility>

namespace bj {

struct LogLine {
  int64_t time = 0;  // microseconds since the epoch
  std::string level;
  std::string message;
};

class SandboxLog {
 public:
  void add(int64_t time, std::string level, std::string message) {
    lines_.push_back({time, std::move(level), std::move(message)});
    if (lines_.size() > kMostLines) lines_.pop_front();
  }
  const std::deque<LogLine>& lines() const { return lines_; }

 private:
  static constexpr size_t kMostLines = 1000;
  std::deque<LogLine> lines_;
};

}  // namespace bj
