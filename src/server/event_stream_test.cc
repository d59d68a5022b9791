#include "server/event_stream.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

TEST(EventStreamTest, LinesBecomeDataFields) {
  EXPECT_EQ(event_text("output", "a\nb\r\nc\rd"), "event: output\ndata: a\ndata: b\ndata: c\ndata: d\n\n");
  EXPECT_EQ(event_text("", ""), "data: \n\n");
}

TEST(EventStreamTest, DataCannotForgeAnEvent) {
  EXPECT_EQ(event_text("a\nevent: b", "x\n\nevent: done"), "event: a\ndata: x\ndata: \ndata: event: done\n\n");
}

}  // namespace
}  // namespace bj
