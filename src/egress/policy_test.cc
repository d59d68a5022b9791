#include "egress/policy.h"

#include <gtest/gtest.h>

#include "egress/policy_json.h"

namespace bj {
namespace {

NetworkPolicy policy(std::string_view text, std::string origin = "sandbox") {
  auto parsed =
      parse_network_policy_text(text, {std::move(origin), PolicyAuthor::kAdministrator, {"pypi.org", "10.0.0.9:3141"}});
  EXPECT_TRUE(parsed) << text << ": " << (parsed ? "" : parsed.error().what);
  return parsed ? *parsed : NetworkPolicy{};
}

IpAddress ip(std::string_view text) { return IpAddress::parse(text).value(); }

Verdict to(const NetworkPolicy& rules, const std::optional<std::string>& name, std::string_view address,
           uint16_t port = 443) {
  return decide_address(rules, {}, name, ip(address), port).verdict;
}

TEST(PolicyTest, NothingIsAllowedUnlessSaid) {
  for (const char* text :
       {"null", "{}", "\"none\"", R"({"preset": null})", R"({"rules": null})", R"({"rules": []})",
        R"({"rules": [{"allow": []}]})", R"({"rules": [{"allow": null}]})",
        R"({"rules": [{"allow": "a.example", "ports": []}]})", R"({"rules": [{"allow": "a.example", "ports": null}]})",
        R"({"rules": [{"allow": "a.example", "methods": []}]})",
        R"({"rules": [{"allow": "a.example", "paths": null}]})"}) {
    const NetworkPolicy closed = policy(text);
    EXPECT_TRUE(closed.allows_nothing()) << text;
    EXPECT_EQ(to(closed, {}, "8.8.8.8"), Verdict::kDeny) << text;
    EXPECT_EQ(to(closed, "a.example", "8.8.8.8"), Verdict::kDeny) << text;
    EXPECT_TRUE(decide_name(closed, "a.example").denied()) << text;
    HttpRequestFacts request{"a.example", ip("8.8.8.8"), 443, "GET", "/"};
    EXPECT_TRUE(decide_http(closed, request).denied()) << text;
  }
  EXPECT_TRUE(decide_name(NetworkPolicy{}, "a.example").denied());
  EXPECT_EQ(to(NetworkPolicy{}, "a.example", "8.8.8.8"), Verdict::kDeny);
}

TEST(PolicyTest, ANameMatchesItselfAndAStarWhatLiesBelow) {
  const NetworkPolicy rules = policy(R"({"rules": [{"allow": ["github.com", "*.example.org"]}]})");
  for (const char* name : {"github.com", "GitHub.COM", "github.com.", "a.example.org", "a.b.example.org"})
    EXPECT_FALSE(decide_name(rules, name).denied()) << name;
  for (const char* name :
       {"evilgithub.com", "github.com.evil.example", "api.github.com", "example.org", "evilexample.org", "github.com..",
        "github.com\n", "user@github.com", "github.com:443", "1.2.3.4", "", "."})
    EXPECT_TRUE(decide_name(rules, name).denied()) << name;
  EXPECT_TRUE(decide_name(rules, std::string_view("github.com\0.evil.example", 24)).denied());
}

TEST(PolicyTest, ADecisionNamesItsRule) {
  const NetworkPolicy rules = policy(R"({"rules": [{"deny": "bad.example"}, {"allow": "a.example", "ports": [443]}]})");
  const NameDecision allowed = decide_name(rules, "A.example");
  EXPECT_EQ(allowed.name, "a.example");
  EXPECT_EQ(allowed.rule, 1);
  EXPECT_EQ(allowed.layer, "sandbox");
  EXPECT_EQ(allowed.rule_text, "allow a.example ports 443");
  EXPECT_EQ(allowed.ports, (std::vector<PortRange>{{443, 443}}));
  const NameDecision denied = decide_name(rules, "bad.example");
  EXPECT_EQ(denied.rule, 0);
  const NameDecision silent = decide_name(rules, "other.example");
  EXPECT_EQ(silent.rule, -1);
  EXPECT_EQ(silent.reason, "no rule allows other.example");
}

TEST(PolicyTest, TheFirstRuleThatMatchesDecides) {
  const NetworkPolicy rules = policy(
      R"({"rules": [{"allow": "ok.example"}, {"deny": ["8.8.8.0/24", "*.example"]}, {"allow": "0.0.0.0/0", "ports": ["1-65535"]}]})");
  EXPECT_EQ(to(rules, "ok.example", "8.8.8.8"), Verdict::kAllow);
  EXPECT_EQ(to(rules, "ok.example", "8.8.8.8", 22), Verdict::kDeny);
  EXPECT_EQ(to(rules, "b.example", "9.9.9.9"), Verdict::kDeny);
  EXPECT_EQ(to(rules, {}, "8.8.8.8"), Verdict::kDeny);
  EXPECT_EQ(to(rules, {}, "9.9.9.9", 22), Verdict::kAllow);
  EXPECT_EQ(to(rules, {}, "2606:4700::1111"), Verdict::kDeny);
}

TEST(PolicyTest, PortsOfANameAreThoseThatSomeRuleCouldAllow) {
  const NetworkPolicy rules = policy(R"({"rules": [
      {"deny": "a.example", "ports": ["8000-8010"]}, {"allow": "a.example", "ports": [22, "8005-8020"]},
      {"deny": "a.example", "ports": [443], "methods": ["DELETE"]}, {"allow": "*.example", "ports": [443]},
      {"deny": "1.0.0.0/8"}]})");
  const NameDecision decision = decide_name(rules, "a.example");
  EXPECT_EQ(decision.ports, (std::vector<PortRange>{{22, 22}, {443, 443}, {8011, 8020}}));
  EXPECT_EQ(to(rules, "a.example", "8.8.8.8", 443), Verdict::kInspect);
  EXPECT_EQ(to(rules, "a.example", "8.8.8.8", 8005), Verdict::kDeny);
}

// Family 20 and 21: whatever the rules say, these are not reached; also when an allowed name points to them
// (rebinding).
TEST(PolicyTest, PlacesThatAreNotPublicAreDeniedWhateverTheRulesSay) {
  const NetworkPolicy open = policy(R"({"preset": "open", "rules": [{"allow": "a.example", "ports": ["1-65535"]},
      {"allow": ["10.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "fc00::/7", "::/0", "0.0.0.0/0"]}]})");
  for (const char* address : {"127.0.0.1",
                              "10.0.0.1",
                              "172.16.5.4",
                              "192.168.0.1",
                              "169.254.169.254",
                              "169.254.0.1",
                              "100.64.0.1",
                              "0.0.0.0",
                              "198.18.1.1",
                              "224.0.0.1",
                              "255.255.255.255",
                              "192.0.2.1",
                              "::1",
                              "::",
                              "fd00:ec2::254",
                              "fd00:be11::1:0",
                              "fe80::1",
                              "ff02::1",
                              "::ffff:127.0.0.1",
                              "::ffff:10.0.0.1",
                              "::127.0.0.1",
                              "64:ff9b::7f00:1",
                              "2002:7f00:1::",
                              "2001:0:0:0:0:0:80ff:fffe",
                              "168.63.129.16"}) {
    EXPECT_EQ(to(open, {}, address, 80), Verdict::kDeny) << address;
    EXPECT_EQ(to(open, "a.example", address, 80), Verdict::kDeny) << address;
  }
  EXPECT_EQ(to(open, {}, "8.8.8.8", 80), Verdict::kAllow);
  EXPECT_EQ(to(open, "a.example", "2606:4700::1111", 80), Verdict::kAllow);
}

TEST(PolicyTest, TheServersOwnAddressesAreDeniedThoughPublic) {
  const NetworkPolicy open = policy(R"("open")");
  const OwnAddresses own{{ip("8.8.4.4"), ip("2606:4700::1")}};
  EXPECT_TRUE(decide_address(open, own, {}, ip("8.8.4.4"), 443).denied());
  EXPECT_TRUE(decide_address(open, own, "a.example", ip("::ffff:8.8.4.4"), 443).denied());
  EXPECT_TRUE(decide_address(open, own, {}, ip("2606:4700::1"), 8090).denied());
  EXPECT_TRUE(decide_address(open, own, "a.example", ip("64:ff9b::8.8.4.4"), 443).denied());
  EXPECT_FALSE(decide_address(open, own, {}, ip("8.8.8.8"), 443).denied());
}

// In a network with NAT64, names that have IPv4 addresses only lead to 64:ff9b::/96: the same hosts.
TEST(PolicyTest, RulesAboutIpv4HoldBehindNat64) {
  const NetworkPolicy closed = policy(R"({"preset": "open", "rules": [{"deny": "8.8.4.0/24"}]})");
  EXPECT_EQ(to(closed, "a.example", "64:ff9b::8.8.4.4"), Verdict::kDeny);
  EXPECT_EQ(to(closed, {}, "64:ff9b::8.8.4.4"), Verdict::kDeny);
  EXPECT_EQ(to(closed, "a.example", "64:ff9b::8.8.8.8"), Verdict::kAllow);
  const NetworkPolicy one = policy(R"({"rules": [{"allow": "8.8.4.4"}, {"deny": "64:ff9b::/96"}]})");
  EXPECT_EQ(to(one, {}, "64:ff9b::8.8.4.4"), Verdict::kAllow);
  EXPECT_EQ(to(one, {}, "64:ff9b::8.8.8.8"), Verdict::kDeny);
  const NetworkPolicy requests = policy(R"({"preset": "open", "rules": [{"deny": "8.8.4.4", "paths": ["/admin/*"]}]})");
  EXPECT_TRUE(decide_http(requests, {"a.example", ip("64:ff9b::8.8.4.4"), 80, "GET", "/admin/x"}).denied());
  EXPECT_FALSE(decide_http(requests, {"a.example", ip("64:ff9b::8.8.4.4"), 80, "GET", "/"}).denied());
}

TEST(PolicyTest, AnAdministratorAllowsOneExactAddress) {
  const NetworkPolicy rules = policy(R"({"private_addresses": ["10.0.0.5:5432", "[fd00::5]:80"]})", "organization");
  EXPECT_FALSE(rules.allows_nothing());
  EXPECT_EQ(to(rules, {}, "10.0.0.5", 5432), Verdict::kAllow);
  EXPECT_EQ(to(rules, {}, "fd00::5", 80), Verdict::kAllow);
  EXPECT_EQ(to(rules, {}, "10.0.0.5", 22), Verdict::kDeny);
  EXPECT_EQ(to(rules, {}, "10.0.0.6", 5432), Verdict::kDeny);
  EXPECT_EQ(to(rules, {}, "64:ff9b::10.0.0.5", 5432), Verdict::kDeny);
  // An inner layer must want it, too; `open` is about the public.
  const NetworkPolicy inner_open = narrow(rules, policy(R"("open")"));
  EXPECT_EQ(to(inner_open, {}, "10.0.0.5", 5432), Verdict::kDeny);
  const NetworkPolicy inner_named = narrow(rules, policy(R"({"rules": [{"allow": "10.0.0.5"}]})"));
  EXPECT_EQ(to(inner_named, {}, "10.0.0.5", 5432), Verdict::kAllow);
}

TEST(PolicyTest, NoLayerCanWidenAnother) {
  const NetworkPolicy organization = policy(R"({"rules": [{"deny": "bad.example"}, {"allow": "*.example"}],
      "caps": {"bytes_sent": 1000, "connections": 5}})",
                                            "organization");
  const NetworkPolicy call = policy(R"({"preset": "open", "private_addresses": ["10.0.0.5"],
      "rules": [{"allow": ["bad.example", "other.test", "10.0.0.5"], "ports": [443]}], "caps": {"bytes_sent": 5000, "names": 3}})",
                                    "call");
  const NetworkPolicy both = narrow(organization, call);
  EXPECT_EQ(to(both, "a.example", "8.8.8.8"), Verdict::kAllow);
  EXPECT_EQ(to(both, "bad.example", "8.8.8.8"), Verdict::kDeny);
  EXPECT_EQ(to(both, "other.test", "8.8.8.8"), Verdict::kDeny);
  EXPECT_EQ(to(both, {}, "10.0.0.5"), Verdict::kDeny);
  EXPECT_EQ(decide_name(both, "other.test").layer, "organization");
  EXPECT_EQ(both.caps.bytes_sent, 1000u);
  EXPECT_EQ(both.caps.connections, 5u);
  EXPECT_EQ(both.caps.names, 3u);
  EXPECT_FALSE(both.caps.bytes_received);
  EXPECT_TRUE(narrow(organization, {}).allows_nothing());
  EXPECT_TRUE(narrow({}, call).allows_nothing());
  EXPECT_TRUE(narrow(organization, policy("null")).allows_nothing());
}

TEST(PolicyTest, RulesAboutRequestsWantThemToBeSeen) {
  const NetworkPolicy rules = policy(R"({"rules": [
      {"deny": "api.example", "paths": ["/v1/admin/*"]}, {"allow": "api.example", "methods": ["GET"], "paths": ["/v1/*"]}]})");
  EXPECT_EQ(to(rules, "api.example", "8.8.8.8"), Verdict::kInspect);
  const struct {
    const char *method, *path;
    bool allowed;
  } cases[] = {
      {"GET", "/v1/items", true},
      {"GET", "/v1/items?x=/../", true},
      {"GET", "/v1/%69tems", true},
      {"POST", "/v1/items", false},
      {"get", "/v1/items", false},
      {"GET", "/v2/items", false},
      {"GET", "/v1", false},
      {"GET", "/v1/admin/x", false},
      {"GET", "/v1/%61dmin/x", false},
      {"GET", "/v1/../v2", false},
      {"GET", "/v1/%2e%2e/v2", false},
      {"GET", "/v1/.%2E/v2", false},
      {"GET", "/v1//admin/x", false},
      {"GET", "/v1/x%2f..%2f", false},
      {"GET", "/v1/..;/v2", false},
      {"GET", "/v1/a\\..\\b", false},
      {"GET", "/v1/%252e%252e/v2", false},
      {"GET", "/v1/%zz", false},
      {"GET", "/v1/%", false},
      {"GET", "/v1/a%00", false},
      {"GET", "/v1/\xC3\xA9", false},
      {"GET", "*", false},
      {"GET", "", false},
      {"GET", "/v1/./admin/x", false},
  };
  for (const auto& one : cases) {
    const HttpRequestFacts request{"api.example", ip("8.8.8.8"), 443, one.method, one.path};
    EXPECT_EQ(!decide_http(rules, request).denied(), one.allowed) << one.method << " " << one.path;
  }
  const HttpRequestFacts overriding{"api.example", ip("8.8.8.8"), 443, "GET", "/v1/x", true};
  EXPECT_TRUE(decide_http(rules, overriding).denied());
  const HttpRequestFacts elsewhere{"api.example", ip("8.8.8.8"), 443, "GET", "/v1/x", false, true};
  EXPECT_TRUE(decide_http(rules, elsewhere).denied());
  const NetworkPolicy methods = policy(R"({"rules": [{"allow": "api.example", "methods": ["GET"]}]})");
  EXPECT_FALSE(decide_http(methods, elsewhere).denied()) << "no rule looks at the path";
}

TEST(PolicyTest, ADeniedMethodIsDeniedInAnyCase) {
  const NetworkPolicy rules =
      policy(R"({"rules": [{"deny": "a.example", "methods": ["DELETE"]}, {"allow": "a.example"}]})");
  for (const char* method : {"DELETE", "delete", "Delete"})
    EXPECT_TRUE(decide_http(rules, {"a.example", ip("8.8.8.8"), 80, method, "/../x"}).denied()) << method;
  EXPECT_FALSE(decide_http(rules, {"a.example", ip("8.8.8.8"), 80, "GET", "/../x"}).denied());
  EXPECT_TRUE(decide_http(rules, {"b.example", ip("8.8.8.8"), 80, "GET", "/"}).denied());
}

TEST(PolicyTest, PackagesAreTheConfiguredIndexes) {
  const NetworkPolicy rules = policy(R"("packages")");
  EXPECT_EQ(decide_name(rules, "pypi.org").ports, (std::vector<PortRange>{{80, 80}, {443, 443}}));
  EXPECT_TRUE(decide_name(rules, "evil-pypi.org").denied());
  EXPECT_EQ(to(rules, {}, "10.0.0.9", 3141), Verdict::kDeny) << "a private index is the administrator's to allow";
  NetworkPolicy with_private = rules;
  with_private.private_addresses.push_back({ip("10.0.0.9"), {3141, 3141}});
  EXPECT_EQ(to(with_private, {}, "10.0.0.9", 3141), Verdict::kAllow);
}

TEST(PolicyTest, DirectRangesAreWhatAllLayersShare) {
  const NetworkPolicy both =
      narrow(policy(R"({"rules": [{"allow": ["1.0.0.0/8", "a.example"], "ports": ["1-1000"]}]})"),
             policy(R"({"rules": [{"allow": ["1.2.0.0/16", "9.0.0.0/8"], "ports": [443, "900-2000"]}]})"));
  const auto ranges = direct_ranges(both);
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(ranges[0].range.text() + " " + ranges[0].ports.text(), "1.2.0.0/16 443");
  EXPECT_EQ(ranges[1].range.text() + " " + ranges[1].ports.text(), "1.2.0.0/16 900-1000");
  EXPECT_EQ(direct_ranges(policy(R"("open")")).size(), 2u);
  EXPECT_TRUE(direct_ranges(policy(R"("packages")")).size() == 1);
  EXPECT_TRUE(direct_ranges({}).empty());
}

}  // namespace
}  // namespace bj
