#include "egress/host_name.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

using namespace std::string_view_literals;

TEST(HostNameTest, SpellingsOfTheSameNameBecomeOne) {
  for (const auto text : {"api.example.com"sv, "API.Example.COM"sv, "api.example.com."sv})
    EXPECT_EQ(normalize_host_name(text).value(), "api.example.com");
  EXPECT_EQ(normalize_host_name("xn--bcher-kva.example").value(), "xn--bcher-kva.example");
  EXPECT_EQ(normalize_host_name("_dmarc.example.com").value(), "_dmarc.example.com");
}

TEST(HostNameTest, WhatAnotherReaderCouldTakeForAnotherNameIsRefused) {
  const std::string_view cases[] = {""sv,
                                    "."sv,
                                    ".."sv,
                                    "example.com.."sv,
                                    ".example.com"sv,
                                    "a..b"sv,
                                    "good.example\0.evil.example"sv,
                                    "good.example\0"sv,
                                    "good.example\r\nHost: evil"sv,
                                    "good.example\n"sv,
                                    "good.example "sv,
                                    " good.example"sv,
                                    "good example"sv,
                                    "good.example\t"sv,
                                    "user@good.example"sv,
                                    "user:pass@good.example"sv,
                                    "good.example:443"sv,
                                    "good.example/path"sv,
                                    "good.example#evil"sv,
                                    "good.example?evil"sv,
                                    "good.example\\evil"sv,
                                    "http://good.example"sv,
                                    "b\xC3\xBC"
                                    "cher.example"sv,
                                    "good\xEF\xBC\x8E"
                                    "example"sv,
                                    "g\xD0\xBE"
                                    "od.example"sv,
                                    "good\xE3\x80\x82"
                                    "example"sv,
                                    "fe80::1%eth0"sv,
                                    "[::1]"sv,
                                    "::1"sv,
                                    "good.example%00"sv,
                                    "good%2eexample"sv,
                                    "127.0.0.1"sv,
                                    "127.1"sv,
                                    "2130706433"sv,
                                    "0x7f000001"sv,
                                    "0x7f.1"sv,
                                    "0177.0.0.1"sv,
                                    "1.2.3.4."sv,
                                    "0X7F.0.0.0X1"sv,
                                    "good.example.0"sv,
                                    "0x"sv,
                                    "*"sv,
                                    "*.example.com"sv,
                                    "-a.example"sv,
                                    "a-.example"sv,
                                    "a,b.example"sv,
                                    "a\x7f.example"sv};
  for (const auto text : cases) EXPECT_FALSE(normalize_host_name(text)) << text;
}

TEST(HostNameTest, LengthsAreBounded) {
  const std::string label(63, 'a');
  EXPECT_TRUE(normalize_host_name(label + ".example"));
  EXPECT_FALSE(normalize_host_name(label + "a.example"));
  const std::string longest = label + "." + label + "." + label + "." + std::string(61, 'b');
  EXPECT_TRUE(normalize_host_name(longest));
  EXPECT_TRUE(normalize_host_name(longest + "."));
  EXPECT_FALSE(normalize_host_name(longest + "b"));
  EXPECT_FALSE(normalize_host_name(std::string(100000, 'a')));
}

TEST(HostNameTest, AMessageCarriesNoControlCharacters) {
  const std::string what = normalize_host_name("a\r\nSet-Cookie: x\x1b[0m").error().what;
  EXPECT_EQ(what.find_first_of("\r\n\x1b"), std::string::npos) << what;
}

TEST(HostNameTest, BelowMeansBehindADot) {
  EXPECT_TRUE(is_below("a.github.com", "github.com"));
  EXPECT_TRUE(is_below("a.b.github.com", "github.com"));
  for (const char* name : {"github.com", "evilgithub.com", "github.com.evil.example", ".github.com", "com"})
    EXPECT_FALSE(is_below(name, "github.com")) << name;
}

}  // namespace
}  // namespace bj
