#include "cli/server_place.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "sys/scratch_directory_for_test.h"

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
  const ScratchDirectory scratch;
  const std::string& directory = scratch.path();
  EXPECT_FALSE(ServerPlace::find(directory));
  {
    const Result<ServerPlace> told = ServerPlace::tell(directory, "http://127.0.0.1:9000");
    ASSERT_TRUE(told);
    EXPECT_EQ(ServerPlace::find(directory), "http://127.0.0.1:9000");
  }
  EXPECT_FALSE(ServerPlace::find(directory));
}

}  // namespace
}  // namespace bj
