// What a build says while it goes on: entries with places, bounded, read from any place by any number of listeners at
// their own pace. Stays on the server's thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/async.h"
#include "base/change.h"
#include "store/template_build_table.h"

namespace bj {

class BuildLog {
 public:
  explicit BuildLog(const asio::any_io_executor& executor) : changed_(executor) {}

  // Text of strangers: made storable, cut where it is too long. Beyond a number or a size it is dropped, and says so
  // once.
  void add(int64_t time, std::string_view level, std::string_view step, std::string_view message);
  void close();

  const std::vector<BuildLogRow>& entries() const { return entries_; }
  bool closed() const { return closed_; }
  // Waits for an entry at that place; nothing: the build is over and there is none.
  Task<std::optional<BuildLogRow>> at(size_t place);
  // Wakes all who wait in at(), who then look again.
  void wake() { changed_.tell(); }

 private:
  static constexpr size_t kMostEntries = 10'000;
  static constexpr size_t kMostBytes = 4 << 20;
  static constexpr size_t kLongestMessage = 4096;

  std::vector<BuildLogRow> entries_;
  size_t bytes_ = 0;
  bool closed_ = false;
  Change changed_;
};

}  // namespace bj
