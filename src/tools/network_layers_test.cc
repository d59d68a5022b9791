#include "tools/network_layers.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

namespace bj {
namespace {

namespace json = boost::json;

NetworkWish allow(const std::string& host) {
  NetworkWish wish;
  wish.network = json::parse(R"({"rules": [{"allow": ")" + host + R"("}]})");
  return wish;
}

bool reaches(const NetworkLayers& layers, const std::string& host) {
  const Result<NetworkPolicy> policy = join_network(layers, {});
  EXPECT_TRUE(policy) << policy.error().what;
  return policy && !decide_name(*policy, host).denied();
}

TEST(NetworkLayersTest, NobodyAsksSoNothingIsReachedWhateverTheOrganizationAllows) {
  NetworkLayers layers;
  layers.organization = "open";
  EXPECT_FALSE(reaches(layers, "example.org"));
  EXPECT_TRUE(join_network(layers, {})->allows_nothing());
}

TEST(NetworkLayersTest, AnOrganizationWithoutAPolicyAllowsNothing) {
  NetworkLayers layers;
  layers.call = allow("example.org");
  EXPECT_FALSE(reaches(layers, "example.org"));
}

TEST(NetworkLayersTest, EachOfTheThreeMayAskAndTheOrganizationDecides) {
  for (NetworkWish NetworkLayers::* const member :
       {&NetworkLayers::configuration, &NetworkLayers::tool, &NetworkLayers::call}) {
    NetworkLayers layers;
    layers.organization = json::parse(R"({"rules": [{"allow": "*.example.org"}]})");
    layers.*member = allow("api.example.org");
    EXPECT_TRUE(reaches(layers, "api.example.org"));
    EXPECT_FALSE(reaches(layers, "www.example.org"));
    layers.*member = allow("evil.example");
    EXPECT_FALSE(reaches(layers, "evil.example"));
  }
}

TEST(NetworkLayersTest, NoLayerWidensWhatAnotherOneCloses) {
  NetworkLayers layers;
  layers.organization = "open";
  layers.configuration = layers.tool = layers.call = allow("example.org");
  EXPECT_TRUE(reaches(layers, "example.org"));
  for (NetworkWish NetworkLayers::* const member :
       {&NetworkLayers::configuration, &NetworkLayers::tool, &NetworkLayers::call}) {
    NetworkLayers closed = layers;
    for (const char* const nothing : {"null", "{}", "\"none\"", R"({"rules": []})"}) {
      (closed.*member).network = json::parse(nothing);
      EXPECT_FALSE(reaches(closed, "example.org")) << nothing;
    }
  }
  layers.call.network = "open";
  EXPECT_FALSE(reaches(layers, "www.example.net"));
}

TEST(NetworkLayersTest, ATemplateTakesAwayAndNeverAsks) {
  NetworkLayers layers;
  layers.organization = "open";
  layers.templates = {json::parse(R"({"rules": [{"allow": ["a.example", "b.example"]}]})")};
  EXPECT_TRUE(join_network(layers, {})->allows_nothing());
  layers.call.network = "open";
  EXPECT_TRUE(reaches(layers, "a.example"));
  EXPECT_FALSE(reaches(layers, "c.example"));
  layers.templates.push_back(json::parse(R"({"rules": [{"allow": ["b.example", "c.example"]}]})"));
  EXPECT_FALSE(reaches(layers, "a.example"));
  EXPECT_TRUE(reaches(layers, "b.example"));
  EXPECT_EQ(decide_name(*join_network(layers, {}), "c.example").layer, "template");
  layers.organization = "none";
  EXPECT_FALSE(reaches(layers, "b.example"));
  layers.templates.push_back("nonsense");
  EXPECT_FALSE(join_network(layers, {}));
}

TEST(NetworkLayersTest, ADenialNamesTheLayerThatMadeIt) {
  NetworkLayers layers;
  layers.organization = "open";
  layers.tool = allow("example.org");
  EXPECT_EQ(decide_name(*join_network(layers, {}), "evil.example").layer, "tool");
}

TEST(NetworkLayersTest, OnlyTheOutermostLayerMayListPrivateAddresses) {
  const json::value listing = json::parse(R"({"preset": "open", "private_addresses": ["10.0.0.5:5432"]})");
  EXPECT_TRUE(check_organization_policy(listing));
  NetworkLayers layers;
  layers.organization = listing;
  layers.call.network = "open";
  ASSERT_TRUE(join_network(layers, {}));
  EXPECT_EQ(join_network(layers, {})->private_addresses.size(), 1u);
  layers.call.network = listing;
  EXPECT_FALSE(join_network(layers, {}));
  const Result<void> written = check_network_wish({{"network", listing}}, "tool");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, Code::kUnprocessable);
  EXPECT_NE(written.error().what.find("tool"), std::string::npos) << written.error().what;
}

TEST(NetworkLayersTest, AStoredPolicyThatCanNotBeReadIsAnErrorThatSaysWhose) {
  NetworkLayers layers;
  layers.tool.network = json::parse(R"({"rules": "*"})");
  const auto joined = join_network(layers, {});
  ASSERT_FALSE(joined);
  EXPECT_NE(joined.error().what.find("of the tool"), std::string::npos) << joined.error().what;
}

TEST(NetworkLayersTest, PackagesMeansTheHostsThatThisServerIsConfiguredFor) {
  NetworkLayers layers;
  layers.organization = "packages";
  layers.tool.network = "packages";
  const auto policy = join_network(layers, {"mirror.example.org:443"});
  ASSERT_TRUE(policy);
  EXPECT_FALSE(decide_name(*policy, "mirror.example.org").denied());
  EXPECT_TRUE(decide_name(*policy, "pypi.org").denied());
}

TEST(NetworkLayersTest, CredentialsAreNamedByAnyLayerOnce) {
  NetworkLayers layers;
  layers.tool = *read_network_wish({{"credentials", {"github", "npm"}}, {"other", 1}}, "tool");
  layers.call = *read_network_wish({{"credentials", {"npm", "pypi"}}}, "call");
  EXPECT_EQ(layers.credentials(), (std::vector<std::string>{"github", "npm", "pypi"}));
  EXPECT_FALSE(layers.asks_for_network());
}

TEST(NetworkLayersTest, WhatIsNoListOfNamesIsRefused) {
  for (const char* const wrong : {R"("github")", R"([1])", R"([""])", R"(["../x"])", R"(["a b"])", "{}"}) {
    EXPECT_FALSE(check_network_wish({{"credentials", json::parse(wrong)}}, "tool")) << wrong;
  }
  EXPECT_FALSE(check_network_wish({{"credentials", json::array(33, "x")}}, "tool"));
  EXPECT_TRUE(check_network_wish({{"credentials", json::parse(R"(["GitHub-1.x_y"])")}}, "tool"));
  EXPECT_TRUE(check_network_wish({{"credentials", nullptr}}, "tool"));
}

}  // namespace
}  // namespace bj
