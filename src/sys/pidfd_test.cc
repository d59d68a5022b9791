#include "sys/pidfd.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "sys/clone.h"

namespace bj {
namespace {

// Reaped, as a zygote's children are, so that only the pidfd is left to ask.
std::optional<int> status_after(void (*life)()) {
  const Cloned child = clone_process(0);
  if (child.pid == 0) {
    life();
    ::_exit(0);
  }
  const Fd pidfd(child.pidfd);
  EXPECT_FALSE(exit_status_of(-1));
  int status = 0;
  EXPECT_EQ(::waitpid(child.pid, &status, 0), child.pid);
  return exit_status_of(pidfd.get());
}

TEST(PidfdTest, TellsHowAProcessEndedWhereTheKernelDoes) {
  const std::optional<int> left = status_after([] { ::_exit(7); });
  const std::optional<int> killed = status_after([] { ::raise(SIGKILL); });
  if (!left) GTEST_SKIP() << "a kernel before 6.15";
  EXPECT_TRUE(WIFEXITED(*left));
  EXPECT_EQ(WEXITSTATUS(*left), 7);
  ASSERT_TRUE(killed);
  EXPECT_TRUE(WIFSIGNALED(*killed));
  EXPECT_EQ(WTERMSIG(*killed), SIGKILL);
}

}  // namespace
}  // namespace bj
