#include "server/address.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

TEST(ServerAddressTest, IpAddressesWithAPort) {
  EXPECT_EQ(parse_address("127.0.0.1:80")->port, 80);
  EXPECT_EQ(parse_address("localhost:8090")->host, "127.0.0.1");
  EXPECT_EQ(parse_address("[::1]:8090")->text(), "[::1]:8090");
  EXPECT_TRUE(parse_address("[::1]:8090")->is_loopback());
  EXPECT_FALSE(parse_address("0.0.0.0:80")->is_loopback());
  for (const char* text : {"example.org:80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:99999", "127.0.0.1:8x", "x", ""})
    EXPECT_FALSE(parse_address(text)) << text;
}

TEST(SitePolicyTest, HostsThatNameThisMachine) {
  for (const char* host : {"localhost", "LOCALHOST:8090", "127.0.0.1:1", "[::1]", "[::1]:8090"})
    EXPECT_TRUE(host_is_ours({}, host, "127.0.0.1")) << host;
  for (const char* host : {"", "evil.org", "localhost.evil.org", "localhost:", "localhost:80.evil.org",
                           "127.0.0.1.evil.org", "::1", "localhost:123456", "localhost@evil.org", "local host", "[::1"})
    EXPECT_FALSE(host_is_ours({}, host, "127.0.0.1")) << host;
}

TEST(SitePolicyTest, OnANetworkTheAddressAndTheConfiguredNames) {
  const SitePolicy policy{{"belljar.example.org"}, {}};
  EXPECT_TRUE(host_is_ours(policy, "10.0.0.5:8090", "10.0.0.5"));
  EXPECT_TRUE(host_is_ours(policy, "[2001:db8::1]", "2001:db8:0::1"));
  EXPECT_TRUE(host_is_ours(policy, "Belljar.example.org:443", "10.0.0.5"));
  EXPECT_FALSE(host_is_ours(policy, "localhost", "10.0.0.5"));
  EXPECT_FALSE(host_is_ours(policy, "10.0.0.6", "10.0.0.5"));
  EXPECT_FALSE(host_is_ours(policy, "x.belljar.example.org", "10.0.0.5"));
}

TEST(SitePolicyTest, OriginsOfOtherSitesAreNotOurs) {
  const SitePolicy policy{{}, {"https://console.example.org"}};
  EXPECT_TRUE(origin_is_ours(policy, "", "localhost:8090"));
  EXPECT_TRUE(origin_is_ours(policy, "http://localhost:8090", "localhost:8090"));
  EXPECT_TRUE(origin_is_ours(policy, "https://console.example.org", "localhost:8090"));
  for (const char* origin : {"null", "http://localhost:3000", "http://localhost", "https://evil.org", "file://",
                             "https://console.example.org.evil.org", "http://"})
    EXPECT_FALSE(origin_is_ours(policy, origin, "localhost:8090")) << origin;
  EXPECT_FALSE(origin_is_ours({}, "http://", ""));
}

}  // namespace
}  // namespace bj
