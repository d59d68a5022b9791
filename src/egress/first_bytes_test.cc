#include "egress/first_bytes.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

using Kind = FirstBytes::Kind;

TEST(FirstBytesTest, ARequestSpeaksOfItsHost) {
  const FirstBytes bytes = read_first_bytes("GET / HTTP/1.1\r\nHost: Allowed.Example\r\n\r\n");
  ASSERT_EQ(bytes.kind, Kind::kHttp);
  EXPECT_EQ(bytes.name, "allowed.example");
  EXPECT_FALSE(contradiction(bytes, "allowed.example"));
  EXPECT_TRUE(contradiction(bytes, "other.example"));
}

TEST(FirstBytesTest, ARequestToAnAddressContradictsAName) {
  const FirstBytes bytes = read_first_bytes("GET / HTTP/1.1\r\nHost: 169.254.169.254\r\n\r\n");
  EXPECT_TRUE(contradiction(bytes, "allowed.example"));
}

TEST(FirstBytesTest, ATunnelInsideATunnelIsRefused) {
  const FirstBytes bytes =
      read_first_bytes("CONNECT allowed.example:443 HTTP/1.1\r\nHost: allowed.example:443\r\n\r\n");
  EXPECT_TRUE(contradiction(bytes, "allowed.example"));
}

TEST(FirstBytesTest, HalfARequestIsNotEnough) {
  const FirstBytes bytes = read_first_bytes("GET / HTTP/1.1\r\nHost: allowed.exa");
  EXPECT_EQ(bytes.kind, Kind::kNeedMore);
  EXPECT_TRUE(contradiction(bytes, "allowed.example"));
}

TEST(FirstBytesTest, OtherProtocolsHaveNothingToContradict) {
  const FirstBytes bytes = read_first_bytes("\x01\x02\x03\x04");
  ASSERT_EQ(bytes.kind, Kind::kOther);
  EXPECT_FALSE(contradiction(bytes, "allowed.example"));
}

// nginx, Apache and Node skip empty lines; Python's server takes any white space for the spaces of the first line; Go's
// takes any method.
TEST(FirstLineTest, WhatALenientServerTakesForARequestIsNoOtherProtocol) {
  for (const std::string line :
       {"\r\nGET / HTTP/1.1\r\n", "\n\n \nGET / HTTP/1.1\r\n", "GET\t/\tHTTP/1.1\r\n", " GET / HTTP/1.1\r\n",
        "\x1cGET / HTTP/1.1\r\n", "\x1d\x1e\x1fGET / HTTP/1.1\r\n", "\x85GET / HTTP/1.1\r\n", "\xa0GET / HTTP/1.1\r\n",
        "GET\xa0/\x85HTTP/1.1\r\n", "GET\x1f/\x1cHTTP/1.1\r\n", "G@T / HTTP/1.1\r\n", "get\v/\vhttp/1.1\r\n",
        "GETGETGETGETGETGETGETGETGETGETGETGET / HTTP/1.1\r\n"}) {
    EXPECT_EQ(read_first_bytes(line + "Host: other.example\r\n\r\n").kind, Kind::kOther) << line;
    EXPECT_FALSE(FirstLine().may_pass(line)) << line;
    FirstLine slow;
    size_t passed = 0;
    while (passed < line.size() && slow.may_pass(line.substr(passed, 1))) ++passed;
    EXPECT_LT(passed, line.size() - 1) << line;
  }
}

// Python's server takes it for a path.
TEST(FirstLineTest, ANulInThePathHidesNoRequest) {
  FirstLine line;
  EXPECT_TRUE(line.may_pass(std::string("GET /\0", 6)));
  EXPECT_FALSE(line.may_pass(" HTTP/1.1\r\nHost: other.example\r\n\r\n"));
}

TEST(FirstLineTest, OtherProtocolsPass) {
  for (const std::string& text :
       {std::string("EHLO me\r\n"), std::string("*1\r\n$4\r\nPING\r\n"), std::string("SSH-2.0-OpenSSH_9.2\r\n"),
        std::string(1000, 'a'), std::string("\0\0\0\x08\x04\xd2 HTTP/1.1\r\n", 17),
        std::string("PRI * HTTP/2.0\r\n\r\n"), std::string("\n\nhello\nGET / HTTP/1.1\r\n")}) {
    EXPECT_TRUE(FirstLine().may_pass(text)) << text;
  }
}

// git:// has no line end, so waiting for one is waiting for ever.
TEST(FirstBytesTest, GitsFirstMessageMayBeWhole) {
  const std::string git("003egit-upload-pack /p.git\0host=allowed.example\0", 47);
  EXPECT_EQ(read_first_bytes(git).kind, Kind::kNeedMore);
  EXPECT_TRUE(may_be_a_whole_message(git));
  EXPECT_TRUE(FirstLine().may_pass(git));
}

TEST(FirstBytesTest, AMessageWithoutALineMayBeWhole) {
  for (const std::string bytes : {"x", "PING", "GET / HT"}) {
    EXPECT_EQ(read_first_bytes(bytes).kind, Kind::kNeedMore) << bytes;
    EXPECT_TRUE(may_be_a_whole_message(bytes)) << bytes;
  }
  for (const std::string bytes : {"\x16\3\1", "\x15", "\x15\1", "\x80\x2e\1", "GET / HTTP/1.1\r\nHost: a.exam"}) {
    EXPECT_EQ(read_first_bytes(bytes).kind, Kind::kNeedMore) << bytes;
    EXPECT_FALSE(may_be_a_whole_message(bytes)) << bytes;
  }
  FirstLine line;
  EXPECT_TRUE(line.may_pass("GET / HT"));
  EXPECT_FALSE(line.may_pass("TP/1.1\r\nHost: other.example\r\n\r\n")) << "half a request was taken for a message";
}

TEST(FirstBytesTest, TwoHostsAreRefused) {
  const FirstBytes bytes = read_first_bytes("GET / HTTP/1.1\r\nHost: allowed.example\r\nHost: other.example\r\n\r\n");
  EXPECT_TRUE(contradiction(bytes, "allowed.example"));
}

}  // namespace
}  // namespace bj
