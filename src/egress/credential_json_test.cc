#include "egress/credential_json.h"

#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>

namespace bj {
namespace {

std::string complaint(std::string_view text) {
  const Result<GateCredential> read = parse_credential_binding_text(text);
  return read ? "" : read.error().what;
}

TEST(CredentialJsonTest, ABindingIsReadAndWrittenBackTheSame) {
  for (
      const std::string text :
      {R"({"hosts":["api.example.com"],"ports":["443"],"header":"Authorization","format":"Bearer {}"})",
       R"({"hosts":["*.example.org"],"ports":["8443"],"methods":["GET"],"paths":["/v1/*"],"query":"key","format":"{}","placeholder":"demo-key-0001"})",
       R"({"hosts":["a.example"],"ports":["443"],"body":true,"format":"{}","placeholder":"demo-key-0001"})"}) {
    const Result<GateCredential> read = parse_credential_binding_text(text);
    ASSERT_TRUE(read) << read.error().what;
    EXPECT_EQ(boost::json::serialize(binding_json(*read)), text);
  }
}

TEST(CredentialJsonTest, UnsaidItIsForPort443AndTheValueAlone) {
  const auto read = parse_credential_binding_text(R"({"hosts": "API.Example.com.", "header": "X-Key"})");
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(read->hosts[0].name, "api.example.com");
  EXPECT_EQ(read->ports, (std::vector<PortRange>{{443, 443}}));
  EXPECT_EQ(read->format, "{}");
  EXPECT_FALSE(read->methods || read->paths);
}

TEST(CredentialJsonTest, WhatIsNotMeantIsRefusedWithASentence) {
  EXPECT_NE(complaint("[]"), "");
  EXPECT_NE(complaint("{"), "");
  EXPECT_NE(complaint(R"({"header": "X-Key"})"), "") << "no hosts";
  EXPECT_NE(complaint(R"({"hosts": [], "header": "X-Key"})"), "");
  EXPECT_NE(complaint(R"({"hosts": "*", "header": "X-Key"})"), "");
  EXPECT_NE(complaint(R"({"hosts": "192.0.2.1", "header": "X-Key"})"), "") << "an address has no certificate's name";
  EXPECT_NE(complaint(R"({"hosts": "a.example"})"), "") << "no place";
  EXPECT_NE(complaint(R"({"hosts": "a.example", "header": "X", "query": "k"})"), "") << "two places";
  EXPECT_NE(complaint(R"({"hosts": "a.example", "header": "X", "value": "s3cret"})"), "")
      << "a value has no place here";
  EXPECT_NE(complaint(R"({"hosts": "a.example", "header": "X\r\nY"})"), "");
  EXPECT_NE(complaint(R"({"hosts": "a.example", "header": "X", "format": "Bearer"})"), "");
  EXPECT_NE(complaint(R"({"hosts": "a.example", "header": "X", "format": "{}{}"})"), "");
  EXPECT_NE(complaint(R"({"hosts": "a.example", "header": "X", "format": "{}\r\nY: 1"})"), "");
  EXPECT_NE(complaint(R"({"hosts": "a.example", "query": "a&b"})"), "");
  EXPECT_NE(complaint(R"({"hosts": "a.example", "body": true})"), "") << "no placeholder";
  EXPECT_NE(complaint(R"({"hosts": "a.example", "body": false, "placeholder": "demo-key-0001"})"), "");
  EXPECT_NE(complaint(R"({"hosts": "a.example", "header": "X", "placeholder": "short"})"), "");
  EXPECT_NE(complaint(R"({"hosts": "a.example", "header": "X", "placeholder": "with \"quotes\""})"), "");
  EXPECT_NE(complaint(R"({"hosts": "a.example", "header": "X", "methods": []})"), "");
  EXPECT_NE(complaint(R"({"hosts": "a.example", "header": "X", "paths": ["/../a"]})"), "");
}

TEST(CredentialJsonTest, HeadersThatSayHowAMessageIsReadHoldNoCredential) {
  for (const std::string name : {"Host", "content-length", "Transfer-Encoding", "CONNECTION", "Proxy-Authorization",
                                 "Sec-WebSocket-Key", "Accept-Encoding", "Range"}) {
    EXPECT_NE(complaint(R"({"hosts": "a.example", "header": ")" + name + "\"}"), "") << name;
  }
}

TEST(CredentialJsonTest, NamesAndValuesAreCheckedAndAValueIsNeverRepeated) {
  EXPECT_TRUE(check_credential_name("github.token_1-a"));
  EXPECT_FALSE(check_credential_name(""));
  EXPECT_FALSE(check_credential_name("a b"));
  EXPECT_FALSE(check_credential_name(std::string(65, 'a')));
  EXPECT_TRUE(check_credential_value("ghp_0123456789"));
  EXPECT_FALSE(check_credential_value("short"));
  const Result<void> bad = check_credential_value("s3cretvalue\r\nX-Evil: 1");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().what.find("s3cret"), std::string::npos);
}

}  // namespace
}  // namespace bj
