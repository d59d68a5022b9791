#include "engine/sandbox.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "sys/files.h"
#include "sys/pipe.h"

namespace bj {
namespace {

struct CaptureTest : testing::Test {
  void SetUp() override {
    Result<Pipe> made = make_pipe();
    ASSERT_TRUE(made);
    pipe = std::move(*made);
    ASSERT_EQ(::fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK), 0);
  }
  void write(std::string_view text) { ASSERT_TRUE(write_all(pipe.write.get(), text, "pipe")); }

  Pipe pipe;
  Captured captured;
};

TEST_F(CaptureTest, NothingThereYetIsNotTheEnd) {
  EXPECT_TRUE(capture_available(pipe.read.get(), 100, captured));
  pipe.write.reset();
  EXPECT_FALSE(capture_available(pipe.read.get(), 100, captured));
  EXPECT_EQ(captured.text, "");
}

TEST_F(CaptureTest, WhatIsBeyondTheLimitIsCountedAcrossReads) {
  write("12345");
  EXPECT_TRUE(capture_available(pipe.read.get(), 8, captured));
  write("67890");
  EXPECT_TRUE(capture_available(pipe.read.get(), 8, captured));
  write("more");
  EXPECT_TRUE(capture_available(pipe.read.get(), 8, captured));
  EXPECT_EQ(captured.text, "12345678");
  EXPECT_EQ(captured.dropped, 6u);
}

TEST_F(CaptureTest, ALimitOfNothingKeepsNothing) {
  write("12345");
  EXPECT_TRUE(capture_available(pipe.read.get(), 0, captured));
  EXPECT_EQ(captured.text, "");
  EXPECT_EQ(captured.dropped, 5u);
}

// Whoever writes as fast as we read must not keep this thread from its other work.
TEST_F(CaptureTest, AStreamWithoutEndGivesTheThreadBack) {
  const Result<Fd> endless = open_path("/dev/zero", O_RDONLY);
  ASSERT_TRUE(endless);
  EXPECT_TRUE(capture_available(endless->get(), 10, captured));
  EXPECT_EQ(captured.text.size(), 10u);
  EXPECT_GT(captured.dropped, 0u);
}

TEST_F(CaptureTest, ADescriptorThatCantBeReadEndsTheStream) {
  EXPECT_FALSE(capture_available(pipe.write.get(), 100, captured));
}

}  // namespace
}  // namespace bj
