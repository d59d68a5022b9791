#include "egress/plain_requests.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

// Nobody but a.example may be asked for.
std::optional<std::string> complaint(const HttpHead& head) {
  if (head.authority.name == "a.example") return {};
  return "asks for " + head.authority.host();
}

class PlainRequestsTest : public testing::Test {
 protected:
  PlainRequests requests_{complaint};
};

std::string get(const std::string& host, const std::string& more = "") {
  return "GET / HTTP/1.1\r\nHost: " + host + "\r\n" + more + "\r\n";
}

TEST_F(PlainRequestsTest, LaterRequestsAreLookedAtToo) {
  EXPECT_FALSE(requests_.sent(get("a.example")));
  EXPECT_FALSE(requests_.sent(get("a.example")));
  EXPECT_EQ(requests_.sent(get("b.example")), "asks for b.example");
}

TEST_F(PlainRequestsTest, SoAreThoseThatComeTogetherOrInPieces) {
  EXPECT_TRUE(requests_.sent(get("a.example") + get("b.example")));
  PlainRequests again(complaint);
  const std::string both = get("a.example") + get("b.example");
  for (size_t i = 0; i + 1 < both.size(); ++i) ASSERT_FALSE(again.sent(both.substr(i, 1))) << i;
  EXPECT_TRUE(again.sent(both.substr(both.size() - 1)));  // before its last byte the server has no request
}

TEST_F(PlainRequestsTest, ABodyIsNoRequestAndWhatFollowsItIs) {
  const std::string body = get("b.example");
  EXPECT_FALSE(requests_.sent(get("a.example", "Content-Length: " + std::to_string(body.size()) + "\r\n") + body));
  EXPECT_FALSE(requests_.sent(get("a.example", "Transfer-Encoding: chunked\r\n") + "3;x=y\r\nabc\r\n0\r\n\r\n"));
  EXPECT_TRUE(requests_.sent(body));
}

TEST_F(PlainRequestsTest, WhatCantBeReadIsRefused) {
  EXPECT_FALSE(requests_.sent(get("a.example")));
  EXPECT_TRUE(requests_.sent("\r\n" + get("b.example")));
  PlainRequests chunks(complaint);
  EXPECT_TRUE(chunks.sent(get("a.example", "Transfer-Encoding: chunked\r\n") + "3\nabc\r\n0\r\n\r\n"));
  PlainRequests lengths(complaint);
  EXPECT_TRUE(lengths.sent(get("a.example", "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n")));
}

TEST_F(PlainRequestsTest, AWebSocketPassesOnceTheServerAgreed) {
  EXPECT_FALSE(requests_.sent(get("a.example", "Upgrade: websocket\r\nConnection: upgrade\r\n")));
  requests_.answered("HTTP/1.1 1");
  requests_.answered("01 Switching Protocols\r\n\r\n");
  EXPECT_FALSE(requests_.sent("\x81\x85 anything"));
}

TEST_F(PlainRequestsTest, AServerThatDidNotAgreeGetsRequestsOnly) {
  EXPECT_FALSE(requests_.sent(get("a.example", "Upgrade: websocket\r\n")));
  requests_.answered("HTTP/1.1 200 OK\r\n\r\n");
  EXPECT_TRUE(requests_.sent(get("b.example")));
  PlainRequests h2c(complaint);
  EXPECT_FALSE(h2c.sent(get("a.example", "Upgrade: h2c\r\n")));
  h2c.answered("HTTP/1.1 101 Switching Protocols\r\n\r\n");
  EXPECT_TRUE(h2c.sent("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
}

}  // namespace
}  // namespace bj
