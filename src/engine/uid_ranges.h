// Ranges of 65,536 user ids outside, one a sandbox, unique among all Belljars of this machine: a range is a locked byte
// of one file, and the kernel gives it back when its process dies, however it dies.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/fd.h"

namespace bj {

class UidRanges;

// A range in use; giving it back is its clean-up. An empty one (single-id maps) holds nothing.
class UidRange {
 public:
  UidRange() = default;
  UidRange(std::shared_ptr<UidRanges> owner, uint32_t index) : owner_(std::move(owner)), index_(index) {}
  UidRange(UidRange&&) = default;
  UidRange& operator=(UidRange&& other) noexcept;
  ~UidRange();
  uint32_t first() const;
  uint32_t index() const { return index_; }

 private:
  std::shared_ptr<UidRanges> owner_;
  uint32_t index_ = 0;
};

// Not thread-safe.
class UidRanges : public std::enable_shared_from_this<UidRanges> {
 public:
  static Result<std::shared_ptr<UidRanges>> open(const std::string& lock_file);
  // Goes on with the locks of a process before this one, whose descriptor this is. Nobody gets one of them by take();
  // all but those that are taken up until settle() are let go then.
  static Result<std::shared_ptr<UidRanges>> go_on(Fd file);
  Result<UidRange> take();
  Result<UidRange> take_up(uint32_t index);
  void settle();
  const Fd& file() const { return file_; }

 private:
  friend class UidRange;
  explicit UidRanges(Fd file) : file_(std::move(file)), taken_(kCount, false), before_(kCount, false) {}
  bool lock(uint32_t index, short type) const;
  Result<void> note_locked();
  void give_back(uint32_t index);

  static constexpr uint32_t kCount = 16384;
  Fd file_;
  std::vector<bool> taken_;
  std::vector<bool> before_;  // locked when we went on: of sandboxes that may be taken up yet
  uint32_t next_ = 0;         // the next to try: a range just given back is not the first to be used again
};

}  // namespace bj
