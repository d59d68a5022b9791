#include "egress/ip_address.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

IpAddress ip(std::string_view text) { return IpAddress::parse(text).value(); }

TEST(IpAddressTest, OnlyTheCanonicalSpellingsAreAddresses) {
  for (const char* text : {"127.1", "0x7f.0.0.1", "0177.0.0.1", "2130706433", "127.0.0.01", "1.2.3", "1.2.3.4.5", "",
                           "1.2.3.256", " 1.2.3.4", "1.2.3.4 ", "[::1]", "fe80::1%eth0", "fe80::1%251", ":::1", "g::1"})
    EXPECT_FALSE(IpAddress::parse(text)) << text;
  EXPECT_FALSE(IpAddress::parse(std::string_view("1.2.3.4\0.evil", 13)));
  EXPECT_EQ(ip("2001:DB8:0::1").text(), "2001:db8::1");
}

TEST(IpAddressTest, AMappedAddressIsTheIpv4Address) {
  EXPECT_EQ(ip("::ffff:10.0.0.1"), ip("10.0.0.1"));
  EXPECT_EQ(ip("::ffff:a00:1").text(), "10.0.0.1");
}

TEST(IpAddressTest, EveryForbiddenPlaceIsKnownForWhatItIs) {
  const struct {
    const char* text;
    AddressKind kind;
  } cases[] = {
      {"0.0.0.0", AddressKind::kUnspecified},
      {"0.1.2.3", AddressKind::kUnspecified},
      {"10.255.255.255", AddressKind::kPrivate},
      {"172.16.0.1", AddressKind::kPrivate},
      {"172.31.255.255", AddressKind::kPrivate},
      {"192.168.1.1", AddressKind::kPrivate},
      {"100.64.0.1", AddressKind::kSharedNat},
      {"100.127.255.255", AddressKind::kSharedNat},
      {"100.100.100.200", AddressKind::kMetadata},
      {"127.0.0.1", AddressKind::kLoopback},
      {"127.255.255.254", AddressKind::kLoopback},
      {"169.254.1.1", AddressKind::kLinkLocal},
      {"169.254.169.254", AddressKind::kMetadata},
      {"168.63.129.16", AddressKind::kMetadata},
      {"192.0.2.1", AddressKind::kDocumentation},
      {"198.18.0.1", AddressKind::kBenchmark},
      {"198.19.255.255", AddressKind::kBenchmark},
      {"198.51.100.7", AddressKind::kDocumentation},
      {"203.0.113.9", AddressKind::kDocumentation},
      {"224.0.0.1", AddressKind::kMulticast},
      {"255.255.255.255", AddressKind::kReserved},
      {"::", AddressKind::kUnspecified},
      {"::1", AddressKind::kLoopback},
      {"::ffff:127.0.0.1", AddressKind::kLoopback},
      {"::ffff:169.254.169.254", AddressKind::kMetadata},
      {"::127.0.0.1", AddressKind::kTranslated},
      {"::ffff:0:127.0.0.1", AddressKind::kTranslated},
      {"64:ff9b::10.0.0.1", AddressKind::kTranslated},
      {"64:ff9b::169.254.169.254", AddressKind::kTranslated},
      {"64:ff9b:1::a00:1", AddressKind::kTranslated},
      {"2002:a00:1::", AddressKind::kTranslated},
      {"2002:7f00:1::1", AddressKind::kTranslated},
      {"2001:0:4136:e378:8000:63bf:3fff:fdd2", AddressKind::kTranslated},
      {"fd00:ec2::254", AddressKind::kMetadata},
      {"fd12:3456::1", AddressKind::kPrivate},
      {"fc00::1", AddressKind::kPrivate},
      {"fec0::1", AddressKind::kPrivate},
      {"fe80::1", AddressKind::kLinkLocal},
      {"ff02::1", AddressKind::kMulticast},
      {"2001:db8::1", AddressKind::kDocumentation},
      {"100::1", AddressKind::kReserved},
      {"4000::1", AddressKind::kReserved},
      {"8.8.8.8", AddressKind::kPublic},
      {"172.32.0.1", AddressKind::kPublic},
      {"100.128.0.1", AddressKind::kPublic},
      {"198.20.0.1", AddressKind::kPublic},
      {"2606:4700::1111", AddressKind::kPublic},
      {"2001:4860:4860::8888", AddressKind::kPublic},
      {"64:ff9b::8.8.8.8", AddressKind::kPublic},
  };
  for (const auto& one : cases) {
    EXPECT_EQ(kind_of(ip(one.text)), one.kind) << one.text << " is taken for " << describe(kind_of(ip(one.text)));
    bool in_set = false;
    for (const Cidr& range : ranges_that_are_not_public()) in_set |= range.contains(ip(one.text));
    if (one.kind != AddressKind::kPublic) EXPECT_TRUE(in_set) << one.text;
    if (one.kind == AddressKind::kPublic && !std::string_view(one.text).starts_with("64:"))
      EXPECT_FALSE(in_set) << one.text;
  }
}

TEST(IpAddressTest, RangesForTheKernelDontOverlap) {
  const auto& ranges = ranges_that_are_not_public();
  for (size_t i = 0; i < ranges.size(); ++i) {
    for (size_t j = 0; j < ranges.size(); ++j)
      EXPECT_FALSE(i != j && ranges[i].contains(ranges[j])) << ranges[j].text();
  }
}

TEST(CidrTest, ContainsExactlyItsAddresses) {
  const Cidr range = Cidr::parse("203.0.112.0/20").value();
  EXPECT_TRUE(range.contains(ip("203.0.112.0")));
  EXPECT_TRUE(range.contains(ip("203.0.127.255")));
  EXPECT_FALSE(range.contains(ip("203.0.128.0")));
  EXPECT_FALSE(range.contains(ip("203.0.111.255")));
  EXPECT_FALSE(Cidr::parse("0.0.0.0/0")->contains(ip("2606::1")));
  EXPECT_TRUE(Cidr::parse("2606:4700::/31")->contains(ip("2606:4701:ffff::1")));
  EXPECT_FALSE(Cidr::parse("2606:4700::/31")->contains(ip("2606:4702::1")));
}

TEST(CidrTest, WhatIsNoRangeIsRefusedWithAdvice) {
  for (const char* text : {"10.0.0.0/33", "10.0.0.0/", "10.0.0.0/8/8", "10.0.0.0/08", "10.0.0.0/-1", "::/129", "/8",
                           "10.0.0.0/+8", "example.com/8", "::ffff:10.0.0.0/104", "010.0.0.0/8"})
    EXPECT_FALSE(Cidr::parse(text)) << text;
  EXPECT_NE(Cidr::parse("10.1.2.3/8").error().what.find("write 10.0.0.0/8"), std::string::npos);
}

}  // namespace
}  // namespace bj
