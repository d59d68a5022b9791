#include "server/traffic.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

const SitePolicy kSite{{"belljar.example.org"}, {}, "sbx.test"};

HttpRequest request_to(const std::string& host, const std::string& path = "/x") {
  HttpRequest request;
  request.headers.add("Host", host);
  request.path = path;
  request.local = "127.0.0.1";
  return request;
}

TEST(TrafficTest, AHostNameOfASandboxNamesItsPort) {
  for (const char* below : {"sbx.test", "sbx.test:8443", "localhost:8090", "127.0.0.1.nip.io", "belljar.example.org"}) {
    const auto traffic = traffic_of(kSite, request_to("8080-sbabc." + std::string(below)));
    ASSERT_TRUE(traffic && *traffic) << below;
    EXPECT_EQ((*traffic)->sandbox, "sbabc");
    EXPECT_EQ((*traffic)->port, 8080);
    EXPECT_EQ((*traffic)->path, "/x");
  }
}

TEST(TrafficTest, ANameThatIsNotOursIsRefused) {
  for (const char* host :
       {"8080-sbabc.evil.test", "8080-sbabc.evilsbx.test", "8080-sbabc.a.sbx.test", "8080-sbabc.10.0.0.1.nip.io"}) {
    const auto traffic = traffic_of(kSite, request_to(host));
    ASSERT_FALSE(traffic) << host;
    EXPECT_EQ(traffic.error().code, Code::kDenied);
  }
}

TEST(TrafficTest, PortsAndIdsMustBeSome) {
  for (const char* host : {"0-sbabc.sbx.test", "70000-sbabc.sbx.test", "80-sb_c.sbx.test", "80-.sbx.test"})
    EXPECT_FALSE(traffic_of(kSite, request_to(host))) << host;
}

TEST(TrafficTest, OtherHostsAreTheApis) {
  for (const char* host : {"127.0.0.1:8090", "localhost", "api.sbx.test", "sbx.test:8443", "a80-x.sbx.test"}) {
    const auto traffic = traffic_of(kSite, request_to(host));
    ASSERT_TRUE(traffic) << host;
    EXPECT_FALSE(*traffic) << host;
  }
}

TEST(TrafficTest, TheTwoHeadersBelongTogether) {
  HttpRequest request = request_to("127.0.0.1:8090");
  request.headers.add("E2b-Sandbox-Id", "sbabc-client");
  EXPECT_FALSE(traffic_of(kSite, request));
  request.headers.add("e2b-sandbox-port", "49983");
  const auto traffic = traffic_of(kSite, request);
  ASSERT_TRUE(traffic && *traffic);
  EXPECT_EQ((*traffic)->sandbox, "sbabc");
  EXPECT_EQ((*traffic)->port, 49983);
}

TEST(TrafficTest, HeadersOfANameThatIsNotOursAreRefused) {
  HttpRequest request = request_to("evil.test");
  request.headers.add("E2b-Sandbox-Id", "sbabc");
  request.headers.add("E2b-Sandbox-Port", "49983");
  EXPECT_FALSE(traffic_of(kSite, request));
}

TEST(TrafficTest, APathLeadsToAPortToo) {
  const auto traffic = traffic_of(kSite, request_to("localhost", "/v1/sandboxes/sbabc/ports/80/a/b%20c"));
  ASSERT_TRUE(traffic && *traffic);
  EXPECT_EQ((*traffic)->path, "/a/b%20c");
  EXPECT_EQ((*traffic)->port, 80);
  for (const char* path : {"/v1/sandboxes/sbabc/ports", "/v1/sandboxes/sbabc/files", "/v1/sandboxes/sbabc/ports/x/"}) {
    const auto other = traffic_of(kSite, request_to("localhost", path));
    ASSERT_TRUE(other);
    EXPECT_FALSE(*other) << path;
  }
}

}  // namespace
}  // namespace bj
