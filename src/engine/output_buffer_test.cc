#include "engine/output_buffer.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

constexpr size_t kAll = 1 << 20;

TEST(OutputBufferTest, WhatWasWrittenIsReadInOrderStreamByStream) {
  OutputBuffer buffer(100);
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
  OutputBuffer buffer(100);
  buffer.add(OutputStream::kOutput, "0123456789");
  EXPECT_EQ(buffer.next(4, 3)->bytes, "456");
  EXPECT_EQ(buffer.next(4, 3)->offset, 4u);
  EXPECT_EQ(buffer.next(9, 3)->bytes, "9");
}

TEST(OutputBufferTest, ALateReaderSeesHowMuchIsGone) {
  OutputBuffer buffer(8);
  buffer.add(OutputStream::kOutput, std::string(6, 'a'));
  buffer.add(OutputStream::kError, std::string(6, 'b'));
  EXPECT_EQ(buffer.begin(), 6u);
  const auto piece = buffer.next(0, kAll);
  ASSERT_TRUE(piece);
  EXPECT_EQ(piece->offset, 6u);
  EXPECT_EQ(piece->bytes, "bbbbbb");
}

TEST(OutputBufferTest, WhatSomebodyStillNeedsIsKeptBeyondTheCapacity) {
  OutputBuffer buffer(8);
  buffer.add(OutputStream::kOutput, std::string(6, 'a'), 0);
  buffer.add(OutputStream::kError, std::string(6, 'b'), 0);
  EXPECT_EQ(buffer.begin(), 0u);
  buffer.add(OutputStream::kOutput, "c", 6);
  EXPECT_EQ(buffer.begin(), 6u);
}

TEST(OutputBufferTest, AFloodOfLinesTakesTheSpaceOfItsBytes) {
  OutputBuffer buffer(64 * 1024);
  for (int i = 0; i < 1'000'000; ++i) buffer.add(OutputStream::kOutput, "x\n");
  EXPECT_EQ(buffer.end(), 2'000'000u);
  EXPECT_LE(buffer.end() - buffer.begin(), 96u * 1024);
}

TEST(OutputBufferTest, ReadingPieceByPieceGivesEverything) {
  OutputBuffer buffer(kAll);
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

}  // namespace
}  // namespace bj
