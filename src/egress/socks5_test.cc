#include "egress/socks5.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

using namespace std::string_literals;

TEST(Socks5Test, AGreetingWithoutAuthenticationIsTaken) {
  for (const auto& bytes : {"\5\1\0"s, "\5\3\2\1\0"s, "\5\1\0rest"s}) {
    const Socks5Greeting greeting = read_socks5_greeting(bytes);
    EXPECT_EQ(greeting.status, Socks5Status::kFound);
    EXPECT_EQ(greeting.answer, "\5\0"s);
    EXPECT_EQ(greeting.used, 2u + static_cast<size_t>(bytes[1]));
  }
  for (const auto& bytes : {""s, "\5"s, "\5\2\2"s})
    EXPECT_EQ(read_socks5_greeting(bytes).status, Socks5Status::kNeedMore);
}

TEST(Socks5Test, OtherGreetingsAreRefused) {
  for (const auto& bytes : {"\4\1\0\x50"s, "GET "s, "\0"s}) {
    EXPECT_EQ(read_socks5_greeting(bytes).status, Socks5Status::kRefused);
    EXPECT_EQ(read_socks5_greeting(bytes).answer, "");
  }
  EXPECT_EQ(read_socks5_greeting("\5\0"s).answer, "\5\xFF");
  EXPECT_EQ(read_socks5_greeting("\5\2\1\2"s).answer, "\5\xFF");
}

TEST(Socks5Test, RequestsAreReadHoweverTheyArrive) {
  const struct {
    std::string bytes;
    const char *name, *address;
    uint16_t port;
  } cases[] = {
      {"\5\1\0\1\x08\x08\x04\x04\1\xBB"s, "", "8.8.4.4", 443},
      {"\5\1\0\3\x09"
       "A.Example\0\x50"s,
       "a.example", nullptr, 80},
      {"\5\1\0\3\x07"
       "8.8.4.4\0\x50"s,
       "", "8.8.4.4", 80},
      {"\5\1\0\3\3::1\0\x50"s, "", "::1", 80},
      {"\5\1\0\4\0\0\0\0\0\0\0\0\0\0\xFF\xFF\x7F\0\0\1\0\x50"s, "", "127.0.0.1", 80},
      {"\5\1\0\4\x26\6\x47\0\0\0\0\0\0\0\0\0\0\0\0\1\x1F\x90"s, "", "2606:4700::1", 8080},
  };
  for (const auto& one : cases) {
    for (size_t i = 0; i < one.bytes.size(); ++i)
      EXPECT_EQ(read_socks5_request(std::string_view(one.bytes).substr(0, i)).status, Socks5Status::kNeedMore);
    const Socks5Request request = read_socks5_request(one.bytes + "rest");
    ASSERT_EQ(request.status, Socks5Status::kFound) << request.reason;
    EXPECT_EQ(request.name, one.name);
    EXPECT_EQ(request.address ? request.address->text() : "", one.address ? one.address : "");
    EXPECT_EQ(request.port, one.port);
    EXPECT_EQ(request.used, one.bytes.size());
  }
}

TEST(Socks5Test, OtherRequestsAreRefusedWithTheirReply) {
  const struct {
    std::string bytes;
    Socks5Reply reply;
  } cases[] = {
      {"\5\2\0\1\x08\x08\x04\x04\1\xBB"s, Socks5Reply::kCommandNotSupported},
      {"\5\3\0\1\x08\x08\x04\x04\1\xBB"s, Socks5Reply::kCommandNotSupported},
      {"\5\1\0\2\x08\x08\x04\x04\1\xBB"s, Socks5Reply::kAddressTypeNotSupported},
      {"\5\1\1\1\x08\x08\x04\x04\1\xBB"s, Socks5Reply::kFailure},
      {"\4\1\0\1\x08\x08\x04\x04\1\xBB"s, Socks5Reply::kFailure},
      {"\5\1\0\1\x08\x08\x04\x04\0\0"s, Socks5Reply::kNotAllowed},
      {"\5\1\0\3\0\0\x50"s, Socks5Reply::kNotAllowed},
      {"\5\1\0\3\x0Agood\0.evil\0\x50"s, Socks5Reply::kNotAllowed},
      {"\5\1\0\3\x05"
       "127.1\0\x50"s,
       Socks5Reply::kNotAllowed},
      {"\5\1\0\3\x0A"
       "2130706433\0\x50"s,
       Socks5Reply::kNotAllowed},
      {"\5\1\0\3\x0C"
       "fe80::1%eth0\0\x50"s,
       Socks5Reply::kNotAllowed},
      {"\5\1\0\3\x08"
       "u@a.evil\0\x50"s,
       Socks5Reply::kNotAllowed},
  };
  for (const auto& one : cases) {
    const Socks5Request request = read_socks5_request(one.bytes);
    EXPECT_EQ(request.status, Socks5Status::kRefused) << one.bytes;
    EXPECT_EQ(request.answer, socks5_reply(one.reply)) << request.reason;
  }
}

TEST(Socks5Test, AReplyShowsNoAddress) {
  EXPECT_EQ(socks5_reply(Socks5Reply::kConnectionRefused), "\5\5\0\1\0\0\0\0\0\0"s);
}

}  // namespace
}  // namespace bj
