#include "cli/server_place.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace bj {
namespace {

TEST(ServerPlaceTest, CommandsReachAServerOfAllAddressesOnLoopback) {
  EXPECT_EQ(server_url("http", {"127.0.0.1", 8090}, ""), "http://127.0.0.1:8090");
  EXPECT_EQ(server_url("http", {"0.0.0.0", 9000}, ""), "http://127.0.0.1:9000");
  EXPECT_EQ(server_url("http", {"::", 9000}, ""), "http://[::1]:9000");
}

TEST(ServerPlaceTest, ACertificateIsForAName) {
  EXPECT_EQ(server_url("https", {"0.0.0.0", 8443}, "belljar.example.org"), "https://belljar.example.org:8443");
}

TEST(ServerPlaceTest, IsKnownAsLongAsTheServerRuns) {
  char name[] = "/tmp/server_place_test.XXXXXX";
  const std::string directory = ::mkdtemp(name);
  EXPECT_FALSE(ServerPlace::find(directory));
  {
    const Result<ServerPlace> told = ServerPlace::tell(directory, "http://127.0.0.1:9000");
    ASSERT_TRUE(told);
    EXPECT_EQ(ServerPlace::find(directory), "http://127.0.0.1:9000");
  }
  EXPECT_FALSE(ServerPlace::find(directory));
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace bj
