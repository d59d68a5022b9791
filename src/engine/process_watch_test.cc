#include "engine/process_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sys/files.h"
#include "sys/pipe.h"

namespace bj {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A process that is nothing but numbers; killing it ends the wait.
class ProcessWatchTest : public testing::Test {
 protected:
  Watched subject() {
    return {limits_,
            [this] {
              ++kills_;
              context_.stop();
            },
            [this] { return used_; }};
  }

  asio::io_context context_;
  Limits limits_;
  CgroupUsage used_;
  int kills_ = 0;
};

TEST_F(ProcessWatchTest, WallTimeKillsAndIsNamed) {
  limits_.wall_ms = 1;
  const ProcessWatch watch(context_.get_executor(), subject());
  context_.run();
  EXPECT_EQ(kills_, 1);
  EXPECT_EQ(watch.stopped_by(), "wall time");
  EXPECT_THAT(watch.limits_hit(), ElementsAre("wall time"));
}

TEST_F(ProcessWatchTest, CpuTimeKillsWhenTheGroupHasUsedIt) {
  limits_.wall_ms = 0;
  limits_.cpu_ms = 10;
  const ProcessWatch watch(context_.get_executor(), subject());
  EXPECT_EQ(kills_, 0);
  used_.cpu_ns = 10'000'000;
  context_.run();
  EXPECT_EQ(kills_, 1);
  EXPECT_EQ(watch.stopped_by(), "cpu");
}

TEST_F(ProcessWatchTest, CpuTimeIsNamedAlsoIfTheKernelWasFirstToKill) {
  limits_.cpu_ms = 10;
  const ProcessWatch watch(context_.get_executor(), subject());
  EXPECT_THAT(watch.limits_hit(), IsEmpty());
  used_.cpu_ns = 10'000'000;
  EXPECT_THAT(watch.limits_hit(), ElementsAre("cpu"));
}

TEST_F(ProcessWatchTest, WithoutLimitsOfTimeNothingIsWaitedFor) {
  limits_.wall_ms = limits_.cpu_ms = 0;
  used_.cpu_ns = ~0ull;
  const ProcessWatch watch(context_.get_executor(), subject());
  context_.run();  // returns: no timer is set
  EXPECT_EQ(kills_, 0);
}

TEST_F(ProcessWatchTest, AfterTheEndNoLimitKills) {
  limits_.wall_ms = 1;
  ProcessWatch watch(context_.get_executor(), subject());
  watch.finish();
  context_.run();
  EXPECT_EQ(kills_, 0);
  EXPECT_THAT(watch.limits_hit(), IsEmpty());
}

TEST_F(ProcessWatchTest, AWatchThatIsGoneKillsNoMore) {
  limits_.wall_ms = 1;
  {
    const ProcessWatch watch(context_.get_executor(), subject());
  }
  context_.run();
  EXPECT_EQ(kills_, 0);
}

TEST_F(ProcessWatchTest, OutputIsKeptToItsLimitAndTheRestIsCounted) {
  limits_.wall_ms = 0;
  limits_.output_bytes = 4;
  Result<Pipe> out = make_pipe(), err = make_pipe();
  ASSERT_TRUE(out && err);
  ProcessWatch watch(context_.get_executor(), subject());
  watch.collect(std::move(out->read), std::move(err->read));
  ASSERT_TRUE(write_all(out->write.get(), "123456", "pipe"));
  ASSERT_TRUE(write_all(err->write.get(), "bad", "pipe"));
  out->write.reset();
  err->write.reset();
  context_.run();  // to the end of both streams
  watch.finish();
  EXPECT_EQ(watch.output().text, "1234");
  EXPECT_EQ(watch.output().dropped, 2u);
  EXPECT_EQ(watch.error().text, "bad");
  EXPECT_THAT(watch.limits_hit(), ElementsAre("output"));
  EXPECT_EQ(kills_, 0);
}

TEST_F(ProcessWatchTest, AStreamThatAChildHoldsOpenIsNotWaitedFor) {
  limits_.wall_ms = 0;
  Result<Pipe> out = make_pipe(), err = make_pipe();
  ASSERT_TRUE(out && err);
  ProcessWatch watch(context_.get_executor(), subject());
  watch.collect(std::move(out->read), std::move(err->read));
  ASSERT_TRUE(write_all(out->write.get(), "said", "pipe"));
  watch.finish();
  context_.run();
  EXPECT_EQ(watch.output().text, "said");
}

TEST_F(ProcessWatchTest, WhatTheKernelStoppedIsNamedToo) {
  limits_.wall_ms = 0;
  const ProcessWatch watch(context_.get_executor(), subject());
  used_.memory_kills = 1;
  used_.forks_refused = 3;
  EXPECT_THAT(watch.limits_hit(), ElementsAre("memory", "processes"));
}

}  // namespace
}  // namespace bj
