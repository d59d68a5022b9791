#include "control/build_log.h"

#include <algorithm>

#include "base/utf8.h"

namespace bj {

void BuildLog::add(int64_t time, std::string_view level, std::string_view step, std::string_view message) {
  const bool full = entries_.size() >= kMostEntries || bytes_ >= kMostBytes;
  if (full && (entries_.empty() || entries_.back().level == "cut") && level != "error") return;
  BuildLogRow row;
  row.position = static_cast<int64_t>(entries_.size());
  row.time = time;
  row.level = level;
  row.step = step;
  row.message = valid_utf8(message.substr(0, kLongestMessage));
  std::erase(row.message, '\0');
  if (full && level != "error") {
    row.level = "cut";
    row.message = "what follows is too much to be kept";
  }
  bytes_ += row.message.size();
  entries_.push_back(std::move(row));
  changed_.tell();
}

void BuildLog::close() {
  closed_ = true;
  changed_.tell();
}

Task<std::optional<BuildLogRow>> BuildLog::at(size_t place) {
  if (place >= entries_.size() && !closed_) co_await changed_.wait();
  if (place < entries_.size()) co_return entries_[place];
  co_return std::nullopt;
}

}  // namespace bj
