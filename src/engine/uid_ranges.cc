#include "engine/uid_ranges.h"

#include <fcntl.h>
#include <sys/random.h>

#include "sys/files.h"

namespace bj {
namespace {

constexpr uint32_t kFirstUid = 0x70000000;  // above the ranges that distributions and systemd hand out
constexpr uint32_t kRangeSize = 65536;

}  // namespace

UidRange& UidRange::operator=(UidRange&& other) noexcept {
  std::swap(owner_, other.owner_);
  std::swap(index_, other.index_);
  return *this;
}

UidRange::~UidRange() {
  if (owner_) owner_->give_back(index_);
}

uint32_t UidRange::first() const { return kFirstUid + index_ * kRangeSize; }

Result<std::shared_ptr<UidRanges>> UidRanges::open(const std::string& lock_file) {
  BJ_TRY(Fd file, open_path(lock_file, O_RDWR | O_CREAT, 0600));
  std::shared_ptr<UidRanges> ranges(new UidRanges(std::move(file)));
  (void)::getrandom(&ranges->next_, sizeof ranges->next_, 0);
  return ranges;
}

bool UidRanges::lock(uint32_t index, short type) const {
  struct flock range{};
  range.l_type = type;
  range.l_start = index;
  range.l_len = 1;
  return ::fcntl(file_.get(), F_OFD_SETLK, &range) == 0;
}

Result<UidRange> UidRanges::take() {
  for (uint32_t tried = 0; tried < kCount; ++tried) {
    const uint32_t index = next_++ % kCount;
    if (taken_[index] || !lock(index, F_WRLCK)) continue;
    taken_[index] = true;
    return UidRange(shared_from_this(), index);
  }
  return fail(Code::kExhausted, "all 16384 user id ranges are in use: too many sandboxes");
}

std::shared_ptr<UidRanges> UidRanges::go_on(Fd file) {
  std::shared_ptr<UidRanges> ranges(new UidRanges(std::move(file)));
  (void)::getrandom(&ranges->next_, sizeof ranges->next_, 0);
  return ranges;
}

Result<UidRange> UidRanges::take_up(uint32_t index) {
  if (index >= kCount || taken_[index] || !lock(index, F_WRLCK))
    return fail(Code::kConflict, "user id range " + std::to_string(index) + " is another's");
  taken_[index] = true;
  return UidRange(shared_from_this(), index);
}

void UidRanges::settle() {
  for (uint32_t index = 0; index < kCount; ++index) {
    if (!taken_[index]) lock(index, F_UNLCK);
  }
}

void UidRanges::give_back(uint32_t index) {
  taken_[index] = false;
  lock(index, F_UNLCK);
}

}  // namespace bj
