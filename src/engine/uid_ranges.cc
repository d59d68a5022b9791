#include "engine/uid_ranges.h"

#include <fcntl.h>
#include <sys/random.h>

#include <algorithm>
#include <utility>

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
    if (taken_[index] || before_[index] || !lock(index, F_WRLCK)) continue;
    taken_[index] = true;
    return UidRange(shared_from_this(), index);
  }
  return fail(Code::kExhausted, "all 16384 user id ranges are in use: too many sandboxes");
}

Result<std::shared_ptr<UidRanges>> UidRanges::go_on(Fd file) {
  std::shared_ptr<UidRanges> ranges(new UidRanges(std::move(file)));
  (void)::getrandom(&ranges->next_, sizeof ranges->next_, 0);
  BJ_CHECK(ranges->note_locked());
  return ranges;
}

// What this descriptor has locked is no obstacle to itself: only another one of the same file can tell. It tells of one
// lock in a stretch, not of the first: what lies before it and behind it is asked for again.
Result<void> UidRanges::note_locked() {
  BJ_TRY(const Fd other, open_path("/proc/self/fd/" + std::to_string(file_.get()), O_RDWR));
  std::vector<std::pair<off_t, off_t>> unknown{{0, kCount}};
  while (!unknown.empty()) {
    const auto [from, to] = unknown.back();
    unknown.pop_back();
    if (from >= to) continue;
    struct flock found{};
    found.l_type = F_WRLCK;
    found.l_start = from;
    found.l_len = to - from;
    if (::fcntl(other.get(), F_OFD_GETLK, &found) != 0) return fail_errno("fcntl(F_OFD_GETLK)");
    if (found.l_type == F_UNLCK) continue;
    const off_t first = std::max(found.l_start, from), end = std::min(found.l_start + found.l_len, to);
    for (off_t index = first; index < end; ++index) before_[static_cast<size_t>(index)] = true;
    unknown.emplace_back(from, first);
    unknown.emplace_back(end, to);
  }
  return {};
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
  before_.assign(kCount, false);
}

void UidRanges::give_back(uint32_t index) {
  taken_[index] = false;
  lock(index, F_UNLCK);
}

}  // namespace bj
