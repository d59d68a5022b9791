#include "egress/credential_use.h"

#include <gtest/gtest.h>

#include "egress/credential_json.h"

namespace bj {
namespace {

constexpr const char* kValue = "tok+en/42=&\"x";

GateCredential credential(const std::string& binding) {
  Result<GateCredential> read = parse_credential_binding_text(binding);
  EXPECT_TRUE(read) << read.error().what;
  read->name = "demo";
  read->value = std::make_shared<const Secret>(std::string_view(kValue));
  return *read;
}

HttpHead head_of(const std::string& text) {
  HttpHeadReader reader;
  EXPECT_EQ(reader.read(text), HttpHeadReader::Status::kFound) << reader.reason();
  return reader.head();
}

// The head as it goes out; `used` is checked.
std::string given(const std::string& request, const std::string& binding, size_t used = 1,
                  Answers answers = Answers::kAsAsked) {
  const GateCredentials bound = {credential(binding)};
  const HttpHead head = head_of(request);
  const GivenRequest out = give_to_head(head, meant_for(bound, head), answers, {});
  EXPECT_EQ(out.used.size(), used);
  return std::string(out.text.view());
}

const std::string kGet = "GET /v1/x?a=1 HTTP/1.1\r\nHost: a.example\r\n";
const std::string kHeader = R"({"hosts": "a.example", "header": "Authorization", "format": "Bearer {}"})";

TEST(CredentialUseTest, PlacesAreComparedWholeNeverByTheirEnds) {
  const GateCredentials all = {credential(kHeader),
                               credential(R"({"hosts": "*.b.example", "ports": [8443], "header": "X-Key"})")};
  EXPECT_EQ(bound_to(all, "a.example", 443).size(), 1u);
  EXPECT_EQ(bound_to(all, "a.example", 80).size(), 0u);
  EXPECT_EQ(bound_to(all, "evila.example", 443).size(), 0u);
  EXPECT_EQ(bound_to(all, "x.a.example", 443).size(), 0u);
  EXPECT_EQ(bound_to(all, "a.example.evil", 443).size(), 0u);
  EXPECT_EQ(bound_to(all, "x.b.example", 8443).size(), 1u);
  EXPECT_EQ(bound_to(all, "b.example", 8443).size(), 0u);
  EXPECT_EQ(bound_to(all, "evilb.example", 8443).size(), 0u);
}

TEST(CredentialUseTest, AHeaderIsSetOverWhatTheCodeWrote) {
  EXPECT_EQ(given(kGet + "Authorization: mine\r\nauthorization: twice\r\nX: y\r\n\r\n", kHeader),
            std::string("GET /v1/x?a=1 HTTP/1.1\r\nhost: a.example\r\nx: y\r\nauthorization: Bearer ") + kValue +
                "\r\nconnection: keep-alive\r\n\r\n");
}

TEST(CredentialUseTest, APlaceholderIsReplacedInItsFieldOnly) {
  const std::string binding = R"({"hosts": "a.example", "header": "X-Key", "placeholder": "hold-0001"})";
  const std::string out = given(kGet + "X-Key: a hold-0001 b hold-0001\r\nOther: hold-0001\r\n\r\n", binding);
  EXPECT_NE(out.find(std::string("x-key: a ") + kValue + " b " + kValue + "\r\n"), out.npos) << out;
  EXPECT_NE(out.find("other: hold-0001\r\n"), out.npos);
  EXPECT_EQ(given(kGet + "X-Key: something\r\n\r\n", binding, 0).find(kValue), std::string::npos);
}

TEST(CredentialUseTest, AFormatStandsOnceWhetherTheCodeWroteItOrNot) {
  const std::string binding =
      R"({"hosts": "a.example", "header": "Authorization", "format": "Bearer {}", "placeholder": "hold-0001"})";
  for (const std::string value : {"Bearer hold-0001", "hold-0001"}) {
    const std::string out = given(kGet + "Authorization: " + value + "\r\n\r\n", binding);
    EXPECT_NE(out.find(std::string("authorization: Bearer ") + kValue + "\r\n"), out.npos) << out;
  }
}

TEST(CredentialUseTest, APasswordInBasicIsReplacedInsideItsBase64) {
  const std::string binding = R"({"hosts": "a.example", "header": "Authorization", "placeholder": "hold-0001"})";
  // me:hold-0001 -> me:tok+en/42=&"x
  const std::string out = given(kGet + "Authorization: Basic bWU6aG9sZC0wMDAx\r\n\r\n", binding);
  EXPECT_NE(out.find("authorization: Basic bWU6dG9rK2VuLzQyPSYieA==\r\n"), out.npos) << out;
}

TEST(CredentialUseTest, AQueryParameterIsSetOrReplacedAndEncoded) {
  const std::string encoded = "tok%2Ben%2F42%3D%26%22x";
  const std::string set = R"({"hosts": "a.example", "query": "key"})";
  EXPECT_TRUE(given(kGet + "\r\n", set).starts_with("GET /v1/x?a=1&key=" + encoded + " HTTP/1.1\r\n"));
  const std::string twice = "GET /?key=1&k%65y=2&keys=3&key HTTP/1.1\r\nHost: a.example\r\n\r\n";
  EXPECT_TRUE(given(twice, set).starts_with("GET /?keys=3&key=" + encoded + " HTTP/1.1\r\n")) << "every spelling of it";
  EXPECT_TRUE(given("GET / HTTP/1.1\r\nHost: a.example\r\n\r\n", set).starts_with("GET /?key=" + encoded + " "));
  const std::string replaced = R"({"hosts": "a.example", "query": "key", "placeholder": "hold-0001"})";
  const std::string get = "GET /?o=hold-0001&key=x-hold-0001 HTTP/1.1\r\nHost: a.example\r\n\r\n";
  EXPECT_TRUE(given(get, replaced).starts_with("GET /?o=hold-0001&key=x-" + encoded + " HTTP/1.1\r\n"));
  EXPECT_TRUE(given(kGet + "\r\n", replaced, 0).starts_with("GET /v1/x?a=1 HTTP/1.1\r\n"));
}

TEST(CredentialUseTest, ABodyGetsTheValueAsItsTypeWritesIt) {
  const GateCredentials bound = {credential(R"({"hosts": "a.example", "body": true, "placeholder": "hold-0001"})")};
  const auto body = [&](const std::string& type, const std::string& text) {
    const HttpHead head = head_of("POST / HTTP/1.1\r\nHost: a.example\r\nContent-Type: " + type + "\r\n\r\n");
    EXPECT_TRUE(reads_body(meant_for(bound, head)));
    return std::string(give_to_body(head, text, meant_for(bound, head)).text.view());
  };
  EXPECT_EQ(body("application/json; charset=utf-8", R"({"k":"hold-0001"})"), R"({"k":"tok+en/42=&\"x"})");
  EXPECT_EQ(body("application/x-www-form-urlencoded", "k=hold-0001&l=1"), "k=tok%2Ben%2F42%3D%26%22x&l=1");
  EXPECT_EQ(body("text/plain", "hold-0001hold-0001"), std::string(kValue) + kValue);
  EXPECT_EQ(body("text/plain", "hold-000"), "hold-000");
}

// Eight letters that become thousands, as often as code writes them: the server's memory, and its caps.
TEST(CredentialUseTest, WhatBecomesOfManyPlaceholdersIsBounded) {
  const std::string hold = "hold-001", value(8192, 'v');
  std::string many;
  for (size_t i = 0; i < 1000; ++i) many += hold;
  const auto with_value = [&](const std::string& binding) {
    GateCredential made = credential(binding);
    made.value = std::make_shared<const Secret>(std::string_view(value));
    return GateCredentials{made};
  };
  const auto give_head = [&](const std::string& binding, const std::string& request) {
    const GateCredentials bound = with_value(binding);
    const HttpHead head = head_of(request);
    return give_to_head(head, meant_for(bound, head), Answers::kAsAsked, {});
  };
  const std::string header = R"({"hosts": "a.example", "header": "X-Key", "placeholder": "hold-001"})";
  const std::string query = R"({"hosts": "a.example", "query": "key", "placeholder": "hold-001"})";
  const std::string end = " HTTP/1.1\r\nHost: a.example\r\n";
  std::string fields;
  for (size_t i = 0; i < 50; ++i) fields += "X-Key: " + hold + hold + "\r\n";
  for (const GivenRequest& given :
       {give_head(header, "GET /" + end + "X-Key: " + many + "\r\n\r\n"),
        give_head(header, "GET /" + end + fields + "\r\n"), give_head(query, "GET /?key=" + many + end + "\r\n")}) {
    EXPECT_FALSE(given.fits);
    EXPECT_LT(given.text.size(), kMostGivenHead + 4 * value.size());
  }
  EXPECT_TRUE(give_head(header, "GET /" + end + "X-Key: " + hold + "\r\n\r\n").fits);
  const GateCredentials bound = with_value(R"({"hosts": "a.example", "body": true, "placeholder": "hold-001"})");
  const HttpHead head = head_of("POST /" + end + "\r\n");
  const GivenRequest body = give_to_body(head, many, meant_for(bound, head));
  EXPECT_FALSE(body.fits);
  EXPECT_LT(body.text.size(), kMostGivenBody + 2 * value.size());
  EXPECT_TRUE(give_to_body(head, many.substr(0, 800), meant_for(bound, head)).fits);
}

TEST(CredentialUseTest, OnlyItsMethodsAndPathsGetIt) {
  const std::string binding =
      R"({"hosts": "a.example", "header": "X-Key", "methods": ["GET"], "paths": ["/v1/*", "/exact"]})";
  const auto gets = [&](const std::string& line, const std::string& fields = "") {
    const GateCredentials bound = {credential(binding)};
    return !meant_for(bound, head_of(line + " HTTP/1.1\r\nHost: a.example\r\n" + fields + "\r\n")).empty();
  };
  EXPECT_TRUE(gets("GET /v1/x?q=/../"));
  EXPECT_TRUE(gets("GET /exact"));
  EXPECT_FALSE(gets("POST /v1/x"));
  EXPECT_FALSE(gets("get /v1/x"));
  EXPECT_FALSE(gets("GET /exact/more"));
  EXPECT_FALSE(gets("GET /v2/x"));
  EXPECT_FALSE(gets("GET /v1/../v2/x")) << "servers read it differently";
  EXPECT_FALSE(gets("GET /v1/%2e%2e/v2"));
  EXPECT_FALSE(gets("GET /v1//x"));
  EXPECT_FALSE(gets("GET /v1/x", "X-HTTP-Method-Override: DELETE\r\n"));
  EXPECT_FALSE(gets("GET /v1/x", "X_HTTP_Method_Override: DELETE\r\n"));
  EXPECT_FALSE(gets("GET /v1/x", "X-Original-URL: /v2/x\r\n"));
}

TEST(CredentialUseTest, AnswersAreAskedForInAFormThatCanBeLookedThrough) {
  const std::string out =
      given(kGet + "Accept-Encoding: gzip\r\nRange: bytes=0-3\r\nIf-Range: x\r\n\r\n", kHeader, 1, Answers::kReadable);
  EXPECT_NE(out.find("accept-encoding: identity\r\n"), out.npos);
  EXPECT_EQ(out.find("gzip"), out.npos);
  EXPECT_EQ(out.find("range"), out.npos);
}

TEST(CredentialUseTest, FieldsBetweenTheClientAndUsAreNotPassedOn) {
  const std::string out =
      given(kGet + "Connection: close, X-Gone\r\nKeep-Alive: 5\r\nTE: trailers\r\nUpgrade: h2c\r\n\r\n", kHeader);
  EXPECT_EQ(out.find("h2c"), out.npos);
  EXPECT_EQ(out.find("te:"), out.npos);
  EXPECT_NE(out.find("connection: close\r\n"), out.npos);
  EXPECT_NE(given(kGet + "Connection: Upgrade\r\nUpgrade: WebSocket\r\n\r\n", kHeader).find("upgrade: websocket\r\n"),
            std::string::npos);
}

}  // namespace
}  // namespace bj
