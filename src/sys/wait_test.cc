#include "sys/wait.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

#include "sys/clone.h"
#include "sys/pipe.h"

namespace bj {
namespace {

TEST(WaitTest, TellsHowManyHaveSomethingToSay) {
  const Pipe pipe = make_pipe().value(), silent = make_pipe().value();
  std::array<pollfd, 2> fds{{{pipe.read.get(), POLLIN, 0}, {silent.read.get(), POLLIN, 0}}};
  EXPECT_EQ(wait_for_events(fds, 0).value(), 0u);
  ASSERT_EQ(::write(pipe.write.get(), "x", 1), 1);
  EXPECT_EQ(wait_for_events(fds, -1).value(), 1u);
  EXPECT_EQ(fds[0].revents, POLLIN);
  EXPECT_EQ(fds[1].revents, 0);
}

TEST(WaitTest, AChildsEndIsToldOnce) {
  const Cloned child = clone_process(0);
  ASSERT_GE(child.pid, 0);
  if (child.pid == 0) ::_exit(7);
  const Fd pidfd(child.pidfd);
  const Result<siginfo_t> end = wait_for_child(child.pid);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->si_code, CLD_EXITED);
  EXPECT_EQ(end->si_status, 7);
  EXPECT_EQ(wait_for_child(child.pid).error().sys, ECHILD);
}

}  // namespace
}  // namespace bj
