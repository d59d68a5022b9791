#include "engine/uid_ranges.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

namespace bj {
namespace {

struct LockFile {
  LockFile() {
    char name[] = "/tmp/belljar-uids-XXXXXX";
    ::close(::mkstemp(name));
    path = name;
  }
  ~LockFile() { ::unlink(path.c_str()); }
  std::string path;
};

Fd copy_of(const Fd& fd) { return Fd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0)); }

TEST(UidRangesTest, NoTwoBelljarsHaveTheSame) {
  const LockFile file;
  const auto one = UidRanges::open(file.path), other = UidRanges::open(file.path);
  ASSERT_TRUE(one && other);
  const Result<UidRange> range = (*one)->take();
  ASSERT_TRUE(range);
  EXPECT_FALSE((*other)->take_up(range->index()));
}

// The locks are its own, so that the kernel would let it have them twice.
TEST(UidRangesTest, WhoGoesOnGivesNobodyARangeThatIsStillInUse) {
  const LockFile file;
  const Fd kept(::open(file.path.c_str(), O_RDWR | O_CLOEXEC));
  const auto odd = [](uint32_t index) { return index % 2 == 1; };
  // Another Belljar, whose lock the kernel comes upon first.
  const auto other = UidRanges::open(file.path);
  const Result<UidRange> others = (*other)->take_up(16001);
  ASSERT_TRUE(others);
  const pid_t before = ::fork();
  if (before == 0) {  // takes all, gives half of them back, and is killed
    const auto ranges = UidRanges::go_on(copy_of(kept));
    std::vector<UidRange> all;
    while (Result<UidRange> range = (*ranges)->take()) all.push_back(std::move(*range));
    for (UidRange& range : all) {
      if (!odd(range.index())) range = UidRange();
    }
    ::_exit(0);
  }
  ::waitpid(before, nullptr, 0);
  const auto next = UidRanges::go_on(copy_of(kept));
  ASSERT_TRUE(next) << next.error().what;
  Result<UidRange> mine = (*next)->take_up(1);
  EXPECT_TRUE(mine);
  std::vector<UidRange> taken;
  while (Result<UidRange> range = (*next)->take()) {
    EXPECT_FALSE(odd(range->index()));
    taken.push_back(std::move(*range));
  }
  EXPECT_EQ(taken.size(), 8192u);
  (*next)->settle();  // what nobody took up is free
  size_t more = 0;
  while (Result<UidRange> range = (*next)->take()) {
    EXPECT_NE(range->index(), mine->index());
    taken.push_back(std::move(*range));
    ++more;
  }
  EXPECT_EQ(more, 8190u);
}

}  // namespace
}  // namespace bj
