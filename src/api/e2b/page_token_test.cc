#include "api/e2b/page_token.h"

#include <gtest/gtest.h>

namespace bj::e2b {
namespace {

TEST(PageTokenTest, ATokenIsOfItsOrderOnly) {
  const std::string token = page_token("2026-01-01T00:00:00Z", "sbabc", Order::kDescending);
  EXPECT_EQ(read_page_token(token, Order::kDescending).value(), "sbabc");
  EXPECT_FALSE(read_page_token(token, Order::kAscending));
  const std::string rising = page_token("2026-01-01T00:00:00Z", "sbabc", Order::kAscending);
  EXPECT_EQ(read_page_token(rising, Order::kAscending).value(), "sbabc");
  EXPECT_FALSE(read_page_token(rising, Order::kDescending));
  EXPECT_FALSE(read_page_token("x", Order::kDescending));
  EXPECT_FALSE(read_page_token("", Order::kDescending));
}

TEST(PageTokenTest, AMetadataFilterIsEncodedThreeTimes) {
  // {"k 1": "v&1"} arrives as metadata=k%2525201%3Dv%2525261, of which the query's reader has taken one layer off.
  const auto wanted = read_metadata_filter("k%25201=v%25261");
  ASSERT_TRUE(wanted);
  EXPECT_EQ(*wanted, (std::map<std::string, std::string>{{"k 1", "v&1"}}));
  EXPECT_EQ(read_metadata_filter("a=1&b=2")->size(), 2u);
}

}  // namespace
}  // namespace bj::e2b
