#include "egress/destination.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace bj {
namespace {

TEST(DestinationTest, TheKernelIsAskedWhichAddressesAreTheMachinesOwn) {
  EXPECT_TRUE(is_own_address(*IpAddress::parse("127.0.0.1")));
  EXPECT_FALSE(is_own_address(*IpAddress::parse("93.184.216.34")));
}

// Once, there were none then, and nothing was the machine's own.
TEST(DestinationTest, WithoutADescriptorToAskWithTheMachinesAddressesAreNotKnown) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const bool known = own_addresses().has_value();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_FALSE(known);
  EXPECT_TRUE(own_addresses());
}

}  // namespace
}  // namespace bj
