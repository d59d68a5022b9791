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

TEST(FirstBytesTest, TwoHostsAreRefused) {
  const FirstBytes bytes = read_first_bytes("GET / HTTP/1.1\r\nHost: allowed.example\r\nHost: other.example\r\n\r\n");
  EXPECT_TRUE(contradiction(bytes, "allowed.example"));
}

}  // namespace
}  // namespace bj
