#include "tools/credentials_webhook.h"

#include <gtest/gtest.h>

#include "providers/http_server_for_test.h"

namespace bj {
namespace {

struct Exchange {
  Credentials credentials;
  std::vector<std::string> requests;
};

Exchange ask(const std::string& answer, const std::string& key, const CredentialsQuery& query) {
  asio::io_context io;
  HttpServerForTest server(io, [&answer](const std::string&) { return answer; });
  auto client = HttpClient::create().value();
  Exchange exchange;
  auto run = [](HttpClient* http, HttpServerForTest* from, std::string bearer, CredentialsQuery wanted,
                Exchange* out) -> Task<void> {
    CredentialsWebhook webhook{from->url("/webhook/sandbox-credentials"), bearer};
    out->credentials = co_await fetch_credentials(*http, std::move(webhook), std::move(wanted));
    from->stop();
  };
  asio::co_spawn(io, run(client.get(), &server, key, query, &exchange), asio::detached);
  io.run();
  exchange.requests = server.requests;
  return exchange;
}

TEST(CredentialsWebhookTest, AsksWithTheKeyAndUsesTheObject) {
  const Exchange exchange = ask(HttpServerForTest::response("200 OK", R"({"A": "x", "N": 5, "Z": null})"), "k",
                                {"user-1", "org-1", "tool", ""});
  EXPECT_EQ(exchange.credentials.problem, "");
  EXPECT_EQ(exchange.credentials.variables, (VariableLayer{{"A", "x"}, {"N", "5"}, {"Z", std::nullopt}}));
  ASSERT_EQ(exchange.requests.size(), 1u);
  EXPECT_TRUE(exchange.requests[0].starts_with("POST /webhook/sandbox-credentials HTTP/1.1\r\n"));
  EXPECT_NE(exchange.requests[0].find("Authorization: Bearer k\r\n"), std::string::npos);
  EXPECT_TRUE(
      exchange.requests[0].ends_with(R"({"user_id": "user-1", "organization_id": "org-1", "tool_name": "tool"})"));
}

TEST(CredentialsWebhookTest, AFailureLeavesTheCallWithoutCredentialsAndWithoutTheirValues) {
  const Exchange refused = ask(HttpServerForTest::response("500 Oops", "secret"), "", {"u", "o", "", "a"});
  EXPECT_TRUE(refused.credentials.variables.empty());
  EXPECT_EQ(refused.credentials.problem, "the credentials webhook answered with status 500");
  EXPECT_EQ(refused.requests[0].find("Authorization"), std::string::npos);
  EXPECT_NE(refused.requests[0].find(R"("agent_id": "a")"), std::string::npos);
  for (const char* body : {"[1]", "secret", ""}) {
    const Exchange odd = ask(HttpServerForTest::response("200 OK", body), "", {"u", "o", "", ""});
    EXPECT_TRUE(odd.credentials.variables.empty());
    EXPECT_EQ(odd.credentials.problem, "the credentials webhook did not answer with a JSON object of variables");
  }
  const Exchange nested =
      ask(HttpServerForTest::response("200 OK", R"({"A": ["secret"], "B": "b"})"), "", {"u", "o", "", ""});
  EXPECT_EQ(nested.credentials.variables, (VariableLayer{{"B", "b"}}));
  EXPECT_EQ(nested.credentials.problem.find("secret"), std::string::npos);
}

TEST(CredentialsWebhookTest, AnObjectIsACredentialForTheGateAndNoVariable) {
  const Exchange exchange =
      ask(HttpServerForTest::response("200 OK", R"({"A": "x", "GITHUB": {"value": "v-secret-v", "hosts": ["h.example"],
                                                "header": "Authorization", "format": "Bearer {}"}})"),
          "", {"u", "o", "", ""});
  EXPECT_EQ(exchange.credentials.problem, "");
  EXPECT_EQ(exchange.credentials.variables, (VariableLayer{{"A", "x"}}));
  ASSERT_EQ(exchange.credentials.for_gate.size(), 1u);
  EXPECT_EQ(exchange.credentials.for_gate[0].gate.name, "GITHUB");
  EXPECT_EQ(exchange.credentials.for_gate[0].gate.value->reveal(), "v-secret-v");
  const Exchange unbound =
      ask(HttpServerForTest::response("200 OK", R"({"GITHUB": {"value": "v-secret-v"}})"), "", {"u", "o", "", ""});
  EXPECT_TRUE(unbound.credentials.for_gate.empty());
  EXPECT_TRUE(unbound.credentials.variables.empty());
  EXPECT_NE(unbound.credentials.problem.find("GITHUB"), std::string::npos);
  EXPECT_EQ(unbound.credentials.problem.find("v-secret-v"), std::string::npos);
}

TEST(CredentialsWebhookTest, EitherPairOfNamesGivesTheAddress) {
  EXPECT_FALSE(credentials_webhook({}));
  ToolSettings settings;
  settings.credentials_webhook.value = "http://h/direct";
  settings.credentials_key.value = "ck";
  EXPECT_EQ(credentials_webhook(settings)->url, "http://h/direct");
  EXPECT_EQ(credentials_webhook(settings)->key, "ck");
  settings.orchestrator_endpoint.value = "http://h";
  EXPECT_EQ(credentials_webhook(settings)->url, "http://h/webhook/sandbox-credentials");
  EXPECT_EQ(credentials_webhook(settings)->key, "");
}

}  // namespace
}  // namespace bj
