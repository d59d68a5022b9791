#include "egress/synthetic_names.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "sys/shared_memory.h"

namespace bj {
namespace {

TEST(SyntheticNamesTest, ANameKeepsItsPairAndNoOtherGetsIt) {
  SyntheticNames names;
  const auto first = names.pair_of("a.example").value();
  const auto second = names.pair_of("b.example").value();
  EXPECT_EQ(first.v4.text(), "198.18.1.0");
  EXPECT_EQ(first.v6.text(), "fd00:be11::1:0");
  EXPECT_NE(first.v4, second.v4);
  EXPECT_EQ(names.pair_of("a.example")->v4, first.v4);
  EXPECT_EQ(*names.name_of(second.v6), "b.example");
  EXPECT_EQ(*names.name_of(first.v4), "a.example");
}

TEST(SyntheticNamesTest, AddressesThatWereNotGivenHaveNoName) {
  SyntheticNames names;
  names.pair_of("a.example").value();
  for (const char* text : {"198.18.1.1", "198.18.0.255", "198.18.0.1", "0.0.0.0", "255.255.255.255", "10.0.0.0",
                           "fd00:be11::1:1", "fd00:be11::", "fd00:be11::2:0", "fd00:be11:1::1:0", "::"})
    EXPECT_EQ(names.name_of(*IpAddress::parse(text)), nullptr) << text;
  EXPECT_TRUE(SyntheticNames::is_synthetic(*IpAddress::parse("198.18.1.1")));
  EXPECT_FALSE(SyntheticNames::is_synthetic(*IpAddress::parse("198.18.0.1")));
  EXPECT_FALSE(SyntheticNames::is_synthetic(*IpAddress::parse("198.17.255.255")));
}

TEST(SyntheticNamesTest, TheCapHoldsAndOldNamesStillAnswer) {
  SyntheticNames names(2);
  names.pair_of("a.example").value();
  names.pair_of("b.example").value();
  const auto third = names.pair_of("c.example");
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code, Code::kExhausted);
  EXPECT_TRUE(names.pair_of("a.example"));
  EXPECT_EQ(names.size(), 2u);
}

TEST(SyntheticNamesTest, EveryPairOfTheWholeRangeLeadsBack) {
  SyntheticNames names(1000000);
  for (size_t i = 0; i < SyntheticNames::kMost; ++i) {
    const std::string name = std::to_string(i) + ".example";
    const auto pair = names.pair_of(name).value();
    ASSERT_EQ(*names.name_of(pair.v4), name);
    ASSERT_EQ(*names.name_of(pair.v6), name);
    ASSERT_NE(kind_of(pair.v4), AddressKind::kPublic);
  }
  EXPECT_FALSE(names.pair_of("one.more.example"));
}

TEST(SyntheticNamesTest, WhoHasTheFileGoesOnWithTheSamePairs) {
  Fd file = *new_memory_file("names");
  SyntheticNames before;
  before.pair_of("a.example").value();
  ASSERT_TRUE(before.remember_in(Fd(::fcntl(file.get(), F_DUPFD_CLOEXEC, 0))));
  const auto second = before.pair_of("b.example").value();
  SyntheticNames after(1);  // a lower cap does not take from who had one
  ASSERT_TRUE(after.remember_in(std::move(file)));
  EXPECT_EQ(after.pair_of("b.example")->v4, second.v4);
  EXPECT_EQ(*after.name_of(second.v6), "b.example");
  EXPECT_FALSE(after.pair_of("c.example"));
  after.limit(3);
  EXPECT_NE(after.pair_of("c.example")->v4, second.v4);
}

}  // namespace
}  // namespace bj
