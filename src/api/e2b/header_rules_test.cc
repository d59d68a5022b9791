#include "api/e2b/header_rules.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

namespace bj::e2b {
namespace {

Result<std::vector<HeaderRule>> read(std::string_view rules) {
  return read_header_rules({{"rules", boost::json::parse(rules)}});
}

TEST(HeaderRulesTest, AValueIsSplitAroundItsSecret) {
  const auto rules = read(
      R"({"api.example.com": [{"transform": {"headers": {"Authorization": "Bearer ${e2b.secrets.my key}!", "X-Plain": "p"}}}]})");
  ASSERT_TRUE(rules) << rules.error().what;
  ASSERT_EQ(rules->size(), 2u);
  EXPECT_EQ(secrets_of(*rules), std::vector<std::string>{"my key"});
  std::map<std::string, Secret> secrets;
  secrets.emplace("my key", Secret("a-long-value"));
  const auto given = gate_credentials(*rules, secrets);
  ASSERT_TRUE(given) << given.error().what;
  EXPECT_EQ(given->at(0).format, "Bearer {}!");
  EXPECT_EQ(given->at(0).value->reveal(), "a-long-value");
  EXPECT_EQ(given->at(0).field, "Authorization");
  EXPECT_EQ(given->at(1).format, "p");
  EXPECT_TRUE(given->at(1).value->reveal().empty());
}

TEST(HeaderRulesTest, WithoutRulesThereIsNothingToGive) {
  EXPECT_TRUE(read_header_rules({})->empty());
  EXPECT_TRUE(read("null")->empty());
  EXPECT_TRUE(read(R"({"a.example": []})")->empty());
  EXPECT_TRUE(read(R"({"a.example": [{}]})")->empty());
}

TEST(HeaderRulesTest, WhatTheGateCantDoIsRefused) {
  for (const char* headers : {R"({"Host": "x.example"})", R"({"Content-Length": "1"})", R"({"A B": "x"})",
                              R"({"A": 1})", R"({"A": ""})", R"({"A": "x\r\nB: y"})", R"({"A": "{}"})",
                              R"({"A": "${e2b.identity.tokens.aws}"})", R"({"A": "${e2b.secrets.}"})",
                              R"({"A": "${e2b.secrets.open"})", R"({"A": "${e2b.secrets.one}${e2b.secrets.two}"})"}) {
    const std::string text = R"({"a.example": [{"transform": {"headers": )" + std::string(headers) + "}}]}";
    EXPECT_FALSE(read(text)) << text;
  }
  for (const char* rules : {"[]", "1", R"({"a.example": {}})", R"({"a.example": [{}, {}]})",
                            R"({"10.0.0.1": [{"transform": {"headers": {"A": "x"}}}]})"})
    EXPECT_FALSE(read(rules)) << rules;
}

TEST(HeaderRulesTest, ASecretIsTakenOffTheRulesThatNameIt) {
  boost::json::object network = boost::json::parse(R"({"denyOut": ["10.0.0.0/8"], "rules": {
      "a.example": [{"transform": {"headers": {"A": "x ${e2b.secrets.gone} y", "B": "${e2b.secrets.gone too}"}}}],
      "b.example": [{}], "c.example": [{"transform": {"headers": {"A": "plain"}}}]}})")
                                    .as_object();
  remove_secret(network, "gone");
  const auto rules = read_header_rules(network);
  ASSERT_TRUE(rules) << rules.error().what;
  ASSERT_EQ(rules->size(), 2u);
  EXPECT_EQ(secrets_of(*rules), std::vector<std::string>{"gone too"});
  EXPECT_TRUE(network.contains("denyOut"));
}

TEST(HeaderRulesTest, ASecretThatIsNotThereOrTooShortIsAFailureThatDoesNotTellIt) {
  const auto rules = read(R"({"a.example": [{"transform": {"headers": {"A": "${e2b.secrets.s}"}}}]})");
  ASSERT_TRUE(rules);
  EXPECT_FALSE(gate_credentials(*rules, {}));
  std::map<std::string, Secret> secrets;
  secrets.emplace("s", Secret("hush"));
  const auto given = gate_credentials(*rules, secrets);
  ASSERT_FALSE(given);
  EXPECT_EQ(given.error().what.find("hush"), std::string::npos);
}

}  // namespace
}  // namespace bj::e2b
