#include "base/fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>

namespace bj {
namespace {

Fd some_descriptor() { return Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }
bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

TEST(FdTest, AnEmptyOneIsMinusOneAndNotOk) {
  const Fd fd;
  EXPECT_EQ(fd.get(), -1);
  EXPECT_FALSE(fd.ok());
}

TEST(FdTest, TheEndOfItsScopeClosesTheDescriptor) {
  int number = -1;
  {
    const Fd fd = some_descriptor();
    number = fd.get();
    ASSERT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
}

TEST(FdTest, MovingLeavesTheSourceEmptyAndTheDescriptorOpen) {
  Fd from = some_descriptor();
  const int number = from.get();
  const Fd to = std::move(from);
  EXPECT_FALSE(from.ok());  // NOLINT(bugprone-use-after-move): that is what is tested
  EXPECT_EQ(to.get(), number);
  EXPECT_TRUE(is_open(number));
}

TEST(FdTest, AssigningClosesWhatWasHeldBefore) {
  Fd held = some_descriptor();
  const int old = held.get();
  Fd next = some_descriptor();
  const int number = next.get();
  held = std::move(next);
  EXPECT_FALSE(is_open(old));
  EXPECT_EQ(held.get(), number);
}

TEST(FdTest, ReleaseHandsTheDescriptorToTheCaller) {
  Fd fd = some_descriptor();
  const Fd taken(fd.release());
  EXPECT_FALSE(fd.ok());
  EXPECT_TRUE(is_open(taken.get()));
}

TEST(FdTest, ResetClosesAndEmpties) {
  Fd fd = some_descriptor();
  const int number = fd.get();
  fd.reset();
  EXPECT_FALSE(fd.ok());
  EXPECT_FALSE(is_open(number));
}

}  // namespace
}  // namespace bj
