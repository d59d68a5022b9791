#include "engine/output_buffer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/files.h"
#include "sys/pipe.h"

namespace bj {
namespace {

constexpr size_t kAll = 1 << 20;

TEST(OutputBufferTest, WhatWasWrittenIsReadInOrderStreamByStream) {
  OutputBuffer buffer = *OutputBuffer::create(100);
  buffer.add(OutputStream::kOutput, "one ");
  buffer.add(OutputStream::kOutput, "two ");
  buffer.add(OutputStream::kError, "oops");
  const auto first = buffer.next(0, kAll);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->bytes, "one two ");
  const auto second = buffer.next(8, kAll);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->stream, OutputStream::kError);
  EXPECT_EQ(second->bytes, "oops");
  EXPECT_FALSE(buffer.next(12, kAll));
}

TEST(OutputBufferTest, APlaceInTheMiddleOfAPieceGivesItsRest) {
  OutputBuffer buffer = *OutputBuffer::create(100);
  buffer.add(OutputStream::kOutput, "0123456789");
  EXPECT_EQ(buffer.next(4, 3)->bytes, "456");
  EXPECT_EQ(buffer.next(4, 3)->offset, 4u);
  EXPECT_EQ(buffer.next(9, 3)->bytes, "9");
}

TEST(OutputBufferTest, ALateReaderSeesHowMuchIsGone) {
  OutputBuffer buffer = *OutputBuffer::create(8);
  buffer.add(OutputStream::kOutput, std::string(6, 'a'));
  buffer.add(OutputStream::kError, std::string(6, 'b'));
  EXPECT_EQ(buffer.begin(), 6u);
  const auto piece = buffer.next(0, kAll);
  ASSERT_TRUE(piece);
  EXPECT_EQ(piece->offset, 6u);
  EXPECT_EQ(piece->bytes, "bbbbbb");
}

TEST(OutputBufferTest, WhatSomebodyStillNeedsIsKeptBeyondTheCapacity) {
  OutputBuffer buffer = *OutputBuffer::create(8);
  buffer.add(OutputStream::kOutput, std::string(6, 'a'), 0);
  buffer.add(OutputStream::kError, std::string(6, 'b'), 0);
  EXPECT_EQ(buffer.begin(), 0u);
  buffer.add(OutputStream::kOutput, "c", 6);
  EXPECT_EQ(buffer.begin(), 6u);
}

TEST(OutputBufferTest, AFloodOfLinesTakesTheSpaceOfItsBytes) {
  OutputBuffer buffer = *OutputBuffer::create(64 * 1024);
  for (int i = 0; i < 1'000'000; ++i) buffer.add(OutputStream::kOutput, "x\n");
  EXPECT_EQ(buffer.end(), 2'000'000u);
  EXPECT_LE(buffer.end() - buffer.begin(), 96u * 1024);
}

TEST(OutputBufferTest, ReadingPieceByPieceGivesEverything) {
  OutputBuffer buffer = *OutputBuffer::create(kAll);
  std::string whole;
  for (int i = 0; i < 1000; ++i) {
    const std::string line = "line " + std::to_string(i) + "\n";
    whole += line;
    buffer.add(i % 3 == 0 ? OutputStream::kError : OutputStream::kOutput, line);
  }
  std::string read;
  uint64_t at = 0;
  while (const auto piece = buffer.next(at, 7)) {
    ASSERT_EQ(piece->offset, at);
    read += piece->bytes;
    at += piece->bytes.size();
  }
  EXPECT_EQ(read, whole);
}

std::string all_of(const OutputBuffer& buffer) {
  std::string text;
  uint64_t at = buffer.begin();
  while (const auto piece = buffer.next(at, kAll)) {
    text += piece->bytes;
    at = piece->offset + piece->bytes.size();
  }
  return text;
}

Fd copy_of(const OutputBuffer& buffer) { return Fd(::fcntl(buffer.file().get(), F_DUPFD_CLOEXEC, 0)); }

TEST(OutputBufferTest, AnotherWhoOpensItsFileGoesOnWhereItStands) {
  OutputBuffer buffer = *OutputBuffer::create(100);
  buffer.add(OutputStream::kOutput, "one ");
  buffer.add(OutputStream::kError, "two ");
  OutputBuffer other = *OutputBuffer::open(copy_of(buffer));
  other.add(OutputStream::kError, "three");
  EXPECT_EQ(all_of(other), "one two three");
  EXPECT_EQ(other.next(4, kAll)->stream, OutputStream::kError);
  EXPECT_EQ(other.end(), 13u);
}

TEST(OutputBufferTest, AForeignFileIsRefused) {
  EXPECT_FALSE(OutputBuffer::open(*anonymous_file("other", std::string(1 << 20, 'x'))));
  EXPECT_FALSE(OutputBuffer::open(std::move(make_pipe()->read)));
}

TEST(OutputBufferTest, ItTakesWhatAPipeHoldsAndSeesItsEnd) {
  OutputBuffer buffer = *OutputBuffer::create(kAll);
  Pipe pipe = *make_pipe();
  ASSERT_EQ(::fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK), 0);
  EXPECT_EQ(buffer.read_from(pipe.read.get(), OutputStream::kOutput, 100, 0), OutputBuffer::Taken::kNothingNow);
  ASSERT_TRUE(write_all(pipe.write.get(), "hello", "pipe"));
  EXPECT_EQ(buffer.read_from(pipe.read.get(), OutputStream::kOutput, 100, 0), OutputBuffer::Taken::kBytes);
  pipe.write.reset();
  EXPECT_EQ(buffer.read_from(pipe.read.get(), OutputStream::kOutput, 100, 0), OutputBuffer::Taken::kEnd);
  EXPECT_EQ(all_of(buffer), "hello");
}

TEST(OutputBufferTest, NothingIsLostOrMixedWhileTheRingGoesRoundAndRound) {
  OutputBuffer buffer = *OutputBuffer::create(64 * 1024);
  Pipe pipe = *make_pipe();
  uint64_t at = 0;
  for (int i = 0; i < 2000; ++i) {  // about 40 MB
    const std::string line(20'000, static_cast<char>('a' + i % 26));
    ASSERT_TRUE(write_all(pipe.write.get(), line, "pipe"));
    ASSERT_EQ(buffer.read_from(pipe.read.get(), OutputStream::kOutput, 32 * 1024, at), OutputBuffer::Taken::kBytes);
    const auto piece = buffer.next(at, kAll);
    ASSERT_TRUE(piece);
    ASSERT_EQ(piece->offset, at);
    ASSERT_EQ(piece->bytes, line);
    at += line.size();
  }
  EXPECT_LE(buffer.end() - buffer.begin(), 96u * 1024);
}

// The bytes 0, 1, 2, ... 250, 0, ... go through a pipe; who reads them is killed again and again.
TEST(OutputBufferTest, AReaderWhoIsKilledAtAnyMomentLosesNothingAndReadsNothingTwice) {
  const OutputBuffer buffer = *OutputBuffer::create(kAll);
  Pipe pipe = *make_pipe();
  uint64_t written = 0;
  for (int turn = 0; turn < 100; ++turn) {
    const pid_t reader = ::fork();
    if (reader == 0) {
      Result<OutputBuffer> own = OutputBuffer::open(copy_of(buffer));
      for (;;) own->read_from(pipe.read.get(), OutputStream::kOutput, 32 * 1024, own->end());
    }
    for (int i = 0; i < turn % 7 + 1; ++i) {
      std::string bytes;
      for (int n = 0; n < 997; ++n) bytes.push_back(static_cast<char>(written++ % 251));
      ASSERT_TRUE(write_all(pipe.write.get(), bytes, "pipe"));
      ::sched_yield();
    }
    ::kill(reader, SIGKILL);
    ::waitpid(reader, nullptr, 0);
  }
  pipe.write.reset();
  OutputBuffer last = *OutputBuffer::open(copy_of(buffer));
  while (last.read_from(pipe.read.get(), OutputStream::kOutput, 32 * 1024, 0) != OutputBuffer::Taken::kEnd) {
  }
  ASSERT_EQ(last.end(), written);
  const std::string text = all_of(last);
  for (size_t i = 0; i < text.size(); ++i) ASSERT_EQ(static_cast<unsigned char>(text[i]), i % 251) << i;
}

TEST(OutputBufferTest, TwoStreamsThatTakeTurnsByteByByteStayWithinBounds) {
  OutputBuffer buffer = *OutputBuffer::create(kAll);
  for (int i = 0; i < 100'000; ++i) buffer.add(i % 2 == 0 ? OutputStream::kError : OutputStream::kOutput, "x");
  EXPECT_EQ(buffer.end(), 100'000u);
  EXPECT_LE(buffer.end() - buffer.begin(), 8192u);
  EXPECT_EQ(all_of(buffer).size(), buffer.end() - buffer.begin());
}

}  // namespace
}  // namespace bj
