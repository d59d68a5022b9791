// Copies the data of files, holes kept, on the caller's thread and on one more.
#pragma once

#include <time.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

#include "base/error.h"
#include "base/fd.h"

namespace bj {

struct CopyJob {
  Fd from, to;  // regular files, `to` empty
  uint64_t size_bytes = 0;
  unsigned mode = 0;  // `to` gets it and the times when its data is there: writing may take bits away
  std::array<timespec, 2> times{};
};

// One caller. More than `max_bytes` in all is an error; so is `stop`, seen between pieces.
class FileCopier {
 public:
  FileCopier(uint64_t max_bytes, const std::atomic<bool>* stop) : max_bytes_(max_bytes), stop_(stop) {}
  ~FileCopier();

  // Now, by the caller.
  Result<void> copy(const CopyJob& job);
  // By whoever is free first; a failure is told by finish().
  Result<void> give(CopyJob job);
  // Helps until everything given is done; yields the bytes copied, or what failed first.
  Result<uint64_t> finish();

 private:
  static constexpr size_t kMostWaiting = 64;  // two descriptors each

  void help();
  Result<void> copy_range(const CopyJob& job, uint64_t at, uint64_t end);

  uint64_t max_bytes_;
  const std::atomic<bool>* stop_;
  std::atomic<uint64_t> bytes_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<CopyJob> waiting_;
  std::optional<Error> failed_;
  bool closed_ = false;
  std::thread helper_;
};

}  // namespace bj
