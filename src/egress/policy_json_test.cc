#include "egress/policy_json.h"

#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>

#include "egress/policy_lists.h"

namespace bj {
namespace {

const PolicySource kCaller{"sandbox", PolicyAuthor::kCaller, {}};
const PolicySource kAdministrator{"organization", PolicyAuthor::kAdministrator, {}};

TEST(PolicyJsonTest, WhatIsNotUnderstoodIsRefusedAndTheMessageSaysWhere) {
  const struct {
    const char *text, *part_of_message;
  } cases[] = {
      {"", "no JSON"},
      {"[]", "must be an object"},
      {"true", "must be an object"},
      {"\"*\"", "\"none\", \"packages\" or \"open\""},
      {"\"everything\"", "\"none\", \"packages\" or \"open\""},
      {R"({"preset": true})", "network.preset"},
      {R"({"Rules": []})", "there is no \"Rules\" here"},
      {R"({"rules": "*"})", "must be a list"},
      {R"({"rules": ["*"]})", "network.rules[0]"},
      {R"({"rules": [{"allow": "*"}]})", "\"preset\": \"open\""},
      {R"({"rules": [{"allow": ["a.example", "*"]}]})", "\"preset\": \"open\""},
      {R"({"rules": [{"allow": "a.*.example"}]})", "stands only in front"},
      {R"({"rules": [{"allow": "https://a.example/"}]})", "is a URL"},
      {R"({"rules": [{"allow": "a.example:443"}]})", "a port is said apart"},
      {R"({"rules": [{"allow": "me@a.example"}]})", "has a user"},
      {R"({"rules": [{"allow": "b\u00fccher.example"}]})", "xn--"},
      {R"({"rules": [{"allow": "a.example\u0000.b"}]})", "control character"},
      {R"({"rules": [{"allow": "a.example\r\n"}]})", "control character"},
      {R"({"rules": [{"allow": "127.1"}]})", "read as an address"},
      {R"({"rules": [{"allow": 2130706433}]})", "read as an address"},
      {R"({"rules": [{"allow": "fe80::1%eth0"}]})", "no host name"},
      {R"({"rules": [{"allow": "10.0.0.1/8"}]})", "write 10.0.0.0/8"},
      {R"({"rules": [{"allow": {"host": "a.example"}}]})", "must be a text or a list"},
      {R"({"rules": [{"allow": "a.example", "deny": "b.example"}]})", "either"},
      {R"({"rules": [{"ports": [443]}]})", "either"},
      {R"({"rules": [{"allow": "a.example", "port": 443}]})", "there is no \"port\" here"},
      {R"({"rules": [{"allow": "a.example", "ports": [0]}]})", "is no port"},
      {R"({"rules": [{"allow": "a.example", "ports": [65536]}]})", "is no port"},
      {R"({"rules": [{"allow": "a.example", "ports": ["443-80"]}]})", "is no port"},
      {R"({"rules": [{"allow": "a.example", "ports": [-1]}]})", "is no port"},
      {R"({"rules": [{"allow": "a.example", "ports": "*"}]})", "is no port"},
      {R"({"rules": [{"allow": "a.example", "ports": [true]}]})", "texts only"},
      {R"({"rules": [{"allow": ["a.example", "8.8.8.8"]}]})", "two rules"},
      {R"({"rules": [{"allow": "a.example", "methods": ["*"]}]})", "no method"},
      {R"({"rules": [{"allow": "a.example", "methods": ["get"]}]})", "in capitals"},
      {R"({"rules": [{"allow": "a.example", "paths": ["*"]}]})", "no path"},
      {R"({"rules": [{"allow": "a.example", "paths": ["/a/../b"]}]})", "no path"},
      {R"({"rules": [{"allow": "a.example", "paths": ["/a*"]}]})", "no path"},
      {R"({"rules": [{"allow": "a.example", "paths": ["/a?b"]}]})", "no path"},
      {R"({"rules": [{"deny": []}]})", "denies nothing"},
      {R"({"rules": [{"deny": "a.example", "ports": []}]})", "denies nothing"},
      {R"({"caps": null})", "network.caps"},
      {R"({"caps": {"bytes": 1}})", "there is no \"bytes\""},
      {R"({"caps": {"bytes_sent": -1}})", "0 or more"},
      {R"({"caps": {"bytes_sent": 1.5}})", "whole number"},
      {R"({"private_addresses": ["10.0.0.5"]})", "only an administrator"},
      {R"({"private_addresses": []})", "only an administrator"},
  };
  for (const auto& one : cases) {
    const auto parsed = parse_network_policy_text(one.text, kCaller);
    ASSERT_FALSE(parsed) << one.text;
    EXPECT_EQ(parsed.error().code, Code::kInvalid);
    EXPECT_NE(parsed.error().what.find(one.part_of_message), std::string::npos)
        << one.text << ": " << parsed.error().what;
  }
}

TEST(PolicyJsonTest, AnAdministratorListsExactAddressesOnly) {
  for (const char* text :
       {"10.0.0.0/8", "*", "db.internal", "10.0.0.5:0", "10.0.0.5:", "fd00::5:80x", "[10.0.0.5]:80", "10.1"})
    EXPECT_FALSE(parse_network_policy_text(R"({"private_addresses": [")" + std::string(text) + "\"]}", kAdministrator))
        << text;
}

TEST(PolicyJsonTest, APolicySurvivesTheWayThroughJson) {
  for (
      const char* text :
      {"null", "\"open\"", R"({"preset": "open", "rules": [{"deny": ["10.0.0.0/8", "a.example"]}]})",
       R"({"rules": [{"allow": "*.a.example", "ports": [22, "8000-8100"], "methods": ["GET"], "paths": ["/v1/*", "/x"]}],
            "caps": {"bytes_sent": 0, "names": 7}, "private_addresses": ["10.0.0.5:5432", "[fd00::1]:80", "10.9.9.9"]})",
       R"({"rules": [{"allow": []}, {"allow": "a.example", "methods": null}]})"}) {
    const auto first = parse_network_policy_text(text, kAdministrator);
    ASSERT_TRUE(first) << text;
    const std::string written = boost::json::serialize(to_json(*first));
    const auto second = parse_network_policy_text(written, kAdministrator);
    ASSERT_TRUE(second) << written << second.error().what;
    EXPECT_EQ(*first, *second) << written;
  }
}

TEST(PolicyJsonTest, SizeAndDepthAreBounded) {
  EXPECT_FALSE(parse_network_policy_text(std::string(300000, ' ') + "null", kCaller));
  EXPECT_FALSE(parse_network_policy_text(std::string(100, '[') + std::string(100, ']'), kCaller));
  std::string many = R"({"rules": [)";
  for (int i = 0; i < 201; ++i) many += std::string(i == 0 ? "" : ",") + R"({"allow": "a.example"})";
  EXPECT_FALSE(parse_network_policy_text(many + "]}", kCaller));
}

bool opens(const NetworkPolicy& policy, const char* name, const char* address, uint16_t port = 443) {
  const auto at = IpAddress::parse(address).value();
  if (name == nullptr) return !decide_address(policy, {}, {}, at, port).denied();
  return !decide_name(policy, name).denied() && !decide_address(policy, {}, name, at, port).denied();
}

TEST(PolicyListsTest, AFlagOpensOnlyWhenItIsTrue) {
  EXPECT_TRUE(policy_of_internet_flag({}, "call").allows_nothing());
  EXPECT_TRUE(policy_of_internet_flag(false, "call").allows_nothing());
  EXPECT_TRUE(opens(policy_of_internet_flag(true, "call"), "a.example", "8.8.8.8"));
  EXPECT_FALSE(opens(policy_of_internet_flag(true, "call"), nullptr, "10.0.0.1"));
}

TEST(PolicyListsTest, OutboundListsAllowBeforeTheyDeny) {
  const auto named =
      policy_of_outbound_lists({{}, {}, {"api.example", "*.cdn.example", "9.9.9.9"}, {"0.0.0.0/0"}}, "s").value();
  EXPECT_TRUE(opens(named, "api.example", "8.8.8.8"));
  EXPECT_TRUE(opens(named, "x.cdn.example", "8.8.8.8"));
  EXPECT_TRUE(opens(named, nullptr, "9.9.9.9", 53));
  EXPECT_FALSE(opens(named, "other.example", "8.8.8.8"));
  EXPECT_FALSE(opens(named, nullptr, "8.8.8.8"));
  const auto denied = policy_of_outbound_lists({{}, true, {"8.8.8.8"}, {"8.8.0.0/16"}}, "s").value();
  EXPECT_TRUE(opens(denied, nullptr, "8.8.8.8"));
  EXPECT_FALSE(opens(denied, nullptr, "8.8.4.4"));
  EXPECT_FALSE(opens(denied, "a.example", "8.8.4.4"));
  EXPECT_TRUE(opens(denied, "a.example", "9.9.9.9"));
  const auto off = policy_of_outbound_lists({NetworkPreset::kOpen, false, {}, {}}, "s").value();
  EXPECT_TRUE(off.allows_nothing());
  EXPECT_TRUE(policy_of_outbound_lists({}, "s")->allows_nothing());
  EXPECT_TRUE(opens(policy_of_outbound_lists({NetworkPreset::kOpen, {}, {}, {}}, "s").value(), "a.example", "8.8.8.8"));
}

TEST(PolicyListsTest, OutboundListsThatMeanLessThanTheySayAreRefused) {
  EXPECT_FALSE(policy_of_outbound_lists({{}, true, {"api.example"}, {}}, "s"));
  EXPECT_FALSE(policy_of_outbound_lists({{}, true, {}, {"bad.example"}}, "s"));
  EXPECT_FALSE(policy_of_outbound_lists({{}, false, {"*"}, {}}, "s"));
  EXPECT_FALSE(policy_of_outbound_lists({{}, {}, {""}, {"0.0.0.0/0"}}, "s"));
}

TEST(PolicyListsTest, AllowListsCloseTheRest) {
  const auto listed =
      policy_of_allow_lists({NetworkPreset::kOpen, false, "8.8.8.0/24, 9.9.9.9", "a.example,*.b.example"}, "s").value();
  EXPECT_TRUE(opens(listed, nullptr, "8.8.8.8", 22));
  EXPECT_TRUE(opens(listed, "x.b.example", "1.1.1.1"));
  EXPECT_FALSE(opens(listed, nullptr, "1.1.1.1"));
  EXPECT_TRUE(policy_of_allow_lists({NetworkPreset::kOpen, true, "8.8.8.0/24", {}}, "s")->allows_nothing());
  EXPECT_TRUE(policy_of_allow_lists({NetworkPreset::kOpen, false, "", {}}, "s")->allows_nothing());
  EXPECT_TRUE(policy_of_allow_lists({}, "s")->allows_nothing());
  EXPECT_TRUE(opens(policy_of_allow_lists({NetworkPreset::kOpen, false, {}, {}}, "s").value(), "a.example", "8.8.8.8"));
  for (const char* bad : {"a.example", "8.8.8.8,,", "*", "2606::/16",
                          "1.1.1.1,1.1.1.2,1.1.1.3,1.1.1.4,1.1.1.5,1.1.1.6,1.1.1.7,1.1.1.8,1.1.1.9,1.1.1.10,1.1.1.11"})
    EXPECT_FALSE(policy_of_allow_lists({{}, false, bad, {}}, "s")) << bad;
  for (const char* bad : {"8.8.8.8", "*", "a.example;b.example", "http://a.example"})
    EXPECT_FALSE(policy_of_allow_lists({{}, false, {}, bad}, "s")) << bad;
}

}  // namespace
}  // namespace bj
