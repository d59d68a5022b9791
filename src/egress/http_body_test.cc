#include "egress/http_body.h"

#include <gtest/gtest.h>

#include "egress/websocket_frames.h"

namespace bj {
namespace {

using Kind = BodyLength::Kind;

struct Outcome {
  std::string content, rest, reason;
  bool over = false;
};

// Fed in pieces of `size` bytes.
Outcome read(BodyLength length, std::string_view bytes, size_t size) {
  HttpBodyReader reader(length);
  Outcome out;
  std::string waiting;
  for (size_t at = 0; at < bytes.size(); at += size) {
    waiting += bytes.substr(at, size);
    const std::optional<size_t> taken = reader.read(waiting, out.content);
    if (!taken) {
      out.reason = reader.reason();
      return out;
    }
    waiting.erase(0, *taken);
  }
  out.rest = waiting;
  out.over = reader.is_over();
  return out;
}

TEST(HttpBodyTest, EveryKindOfBodyIsTakenOffHoweverItComes) {
  const std::string chunked = "5\r\nhello\r\nA;x=y\r\n0123456789\r\n0\r\nX-T: v\r\n\r\nNEXT";
  for (size_t size = 1; size <= chunked.size(); ++size) {
    const Outcome out = read({Kind::kChunked, 0}, chunked, size);
    EXPECT_EQ(out.content, "hello0123456789") << out.reason;
    EXPECT_TRUE(out.over);
    EXPECT_EQ(out.rest, "NEXT");
    EXPECT_EQ(read({Kind::kCounted, 3}, "abcNEXT", size).rest, "NEXT");
    EXPECT_EQ(read({Kind::kUntilClosed, 0}, "all of it", size).content, "all of it");
  }
  EXPECT_TRUE(HttpBodyReader({Kind::kCounted, 0}).is_over());
  EXPECT_TRUE(HttpBodyReader(BodyLength{}).is_over());
}

TEST(HttpBodyTest, ChunksThatTwoReadersCouldUnderstandDifferentlyAreRefused) {
  for (const std::string bytes :
       {"5\nhello\r\n0\r\n\r\n", "zz\r\n", "\r\n", "-1\r\n", "+5\r\nhello", "0x5\r\nhello", "5\r\nhelloX\r\n0\r\n\r\n",
        "5 \r5\r\n", "FFFFFFFFFFFFFFFFF\r\n", "0\r\nContent-Length: 5\r\n\r\n",
        "0\r\nTransfer-Encoding: chunked\r\n\r\n", "0\r\n folded: x\r\n\r\n", "0\r\nbad name: x\r\n\r\n"}) {
    EXPECT_NE(read({Kind::kChunked, 0}, bytes, 1).reason, "") << bytes;
    EXPECT_NE(read({Kind::kChunked, 0}, bytes, 100).reason, "") << bytes;
  }
  EXPECT_NE(read({Kind::kChunked, 0}, "1;" + std::string(1000, 'x'), 7).reason, "");
  std::string trailers = "0\r\n";
  for (int i = 0; i < 1000; ++i) trailers += "X-Name: some value\r\n";
  EXPECT_NE(read({Kind::kChunked, 0}, trailers, 100).reason, "");
}

TEST(HttpBodyTest, AChunkIsWrittenAsItIsRead) {
  const std::string bytes = chunk_of("0123456789abcdef!") + last_chunk({{"x-t", "v"}});
  EXPECT_EQ(bytes, "11\r\n0123456789abcdef!\r\n0\r\nx-t: v\r\n\r\n");
  EXPECT_EQ(read({Kind::kChunked, 0}, bytes, 3).content, "0123456789abcdef!");
}

TEST(HttpResponseTest, TheLengthOfABodyDependsOnWhatWasAsked) {
  const auto kind = [](const std::string& head, const char* method) {
    HttpResponseReader reader;
    EXPECT_EQ(reader.read(head), HttpResponseReader::Status::kFound) << reader.reason();
    return body_length_of(reader.response(), method).kind;
  };
  EXPECT_EQ(kind("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "GET"), Kind::kCounted);
  EXPECT_EQ(kind("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "HEAD"), Kind::kNone);
  EXPECT_EQ(kind("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", "GET"), Kind::kNone);
  EXPECT_EQ(kind("HTTP/1.1 204\r\n\r\n", "GET"), Kind::kNone);
  EXPECT_EQ(kind("HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n", "GET"), Kind::kChunked);
  EXPECT_EQ(kind("HTTP/1.0 200 OK\r\n\r\n", "GET"), Kind::kUntilClosed);
}

TEST(HttpResponseTest, WhatTwoReadersCouldUnderstandDifferentlyIsRefused) {
  for (const std::string head :
       {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        "HTTP/2 200\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n", "HTTP/1.1 099 OK\r\n\r\n", "HTTP/1.1 200 OK\n\r\n",
        "HTTP/1.1 200 OK\r\n Folded: x\r\n\r\n", "HTTP/1.1 200 a\rb\r\n\r\n", "ICY 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA: x\ry\r\n\r\n"}) {
    HttpResponseReader reader;
    EXPECT_EQ(reader.read(head), HttpResponseReader::Status::kRefused) << head;
  }
}

TEST(WebSocketFramesTest, TheEndsOfFramesAreFoundHoweverTheyCome) {
  const std::string small(
      "\x81\x03"
      "abc",
      5),
      part("\x01\x01x", 3), large = std::string("\x82\x7e\x01\x00", 4) + std::string(256, 'y');
  const std::string bytes = small + part + std::string("\x80\x00", 2) + large;
  for (size_t size = 1; size < bytes.size(); ++size) {
    WebSocketFrames frames;
    std::vector<size_t> ends;
    size_t passed = 0;
    for (size_t at = 0; at < bytes.size(); at += size) {
      std::string_view piece = std::string_view(bytes).substr(at, size);
      while (!piece.empty()) {
        const size_t taken = frames.pass(piece);
        ASSERT_GT(taken, 0u);
        passed += taken;
        piece.remove_prefix(taken);
        if (frames.ended()) ends.push_back(passed);
      }
    }
    EXPECT_EQ(ends, (std::vector<size_t>{5, 8, 10, bytes.size()})) << size;
  }
}

}  // namespace
}  // namespace bj
