#include "api/gzip.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

std::string packed(const std::string& text) {
  GzipWriter writer;
  std::string out;
  for (size_t at = 0; at < text.size(); at += 1000) out += writer.add(std::string_view(text).substr(at, 1000));
  return out + writer.finish();
}

Result<std::string> unpacked(const std::string& bytes, size_t step) {
  GzipReader reader;
  std::string text;
  for (size_t at = 0; at < bytes.size(); at += step) {
    reader.feed(bytes.substr(at, step));
    for (;;) {
      BJ_TRY(const std::string piece, reader.take());
      if (piece.empty()) break;
      text += piece;
    }
  }
  if (!reader.is_over()) return fail(Code::kInvalid, "cut off");
  return text;
}

TEST(GzipTest, WhatWasPackedComesOutAgain) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i * 7919);
  for (const size_t step : {1000, 100'000}) EXPECT_EQ(unpacked(packed(text), step).value(), text);
  EXPECT_EQ(unpacked(packed(""), 5).value(), "");
}

TEST(GzipTest, WhatIsNoGzipOrCutOffIsRefused) {
  EXPECT_FALSE(unpacked("hello", 5));
  EXPECT_FALSE(unpacked(packed("hello").substr(0, 15), 5));
  EXPECT_FALSE(unpacked(packed("hello") + "more", 100));
}

}  // namespace
}  // namespace bj
