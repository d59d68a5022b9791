#include "server/http_server.h"

#include <fmt/ranges.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "server/test_server.h"

namespace bj {
namespace {

RouteOptions public_route() {
  RouteOptions options;
  options.access = Access::kPublic;
  return options;
}

Task<HttpResponse> echo(HttpRequest& request) {
  co_return text_response(200, "text/plain", std::string(name_of(request.method)) + ":" + request.body);
}

// Says how long the body was, having read it as a stream.
Task<HttpResponse> measure(HttpRequest& request) {
  size_t size = 0, pieces = 0;
  for (;;) {
    Result<std::string> piece = co_await request.body_stream->read();
    if (!piece) co_return error_response(400, piece.error().what);
    if (piece->empty()) break;
    size += piece->size();
    ++pieces;
  }
  co_return text_response(200, "text/plain", fmt::format("{} in {}", size, pieces > 1 ? "pieces" : "one"));
}

void fill(Router& router) {
  RouteOptions options = public_route();
  router.add(Method::kGet, "/echo", echo, options);
  router.add(Method::kPost, "/echo", echo, options);
  options.body_limit = 100;
  router.add(Method::kPost, "/small", echo, options);
  options.body_limit = 10 << 20;
  options.body = BodyKind::kStreamed;
  router.add(Method::kPost, "/stream", measure, options);
  options.body = BodyKind::kCollected;
  router.add(
      Method::kGet, "/items/{name}",
      [](HttpRequest& request) -> Task<HttpResponse> {
        co_return text_response(
            200, "text/plain",
            request.parameter("name") + "|" + fmt::format("{}", fmt::join(request.query.all("q"), ",")));
      },
      options);
  router.add(
      Method::kGet, "/throw",
      [](HttpRequest&) -> Task<HttpResponse> {
        throw std::runtime_error("a secret detail");
        co_return empty_response();
      },
      options);
  router.add(
      Method::kGet, "/split",
      [](HttpRequest&) -> Task<HttpResponse> {
        HttpResponse response = text_response(200, "text/plain", "x");
        response.headers.add("X-Name", "a\r\nX-Evil: 1");
        co_return response;
      },
      options);
}

class HttpServerTest : public testing::Test {
 protected:
  TestServer server{fill};
};

TEST_F(HttpServerTest, HealthTellsVersionAndSeal) {
  const std::string answer = fetch(server, "GET", "/health");
  EXPECT_EQ(status_in(answer), 200U);
  EXPECT_TRUE(answer.ends_with(R"({"status":"ok","version":"1.2","seal_full":true})")) << answer;
}

TEST_F(HttpServerTest, ConnectionsAreKeptAndPipelinedRequestsAnsweredInOrder) {
  TestClient client(server.port());
  client.send(request_text("POST", "/echo", with_length("a"), "a") + request_text("GET", "/items/b") +
              request_text("POST", "/echo", "Transfer-Encoding: chunked\r\n", "1\r\nc\r\n0\r\n\r\n") +
              request_text("GET", "/missing") + request_text("POST", "/echo", with_length("e"), "e"));
  EXPECT_TRUE(client.read_response().ends_with("POST:a"));
  EXPECT_TRUE(client.read_response().ends_with("b|"));
  EXPECT_TRUE(client.read_response().ends_with("POST:c"));
  EXPECT_EQ(status_in(client.read_response()), 404U);
  EXPECT_TRUE(client.read_response().ends_with("POST:e"));
}

TEST_F(HttpServerTest, ARequestMayComeByteByByte) {
  TestClient client(server.port());
  for (const char c :
       request_text("POST", "/echo", "Transfer-Encoding: chunked\r\n", "3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nT: t\r\n\r\n"))
    client.send({&c, 1});
  EXPECT_TRUE(client.read_response().ends_with("POST:abcde"));
}

TEST_F(HttpServerTest, HeadHasTheLengthAndNoBody) {
  const std::string answer = fetch(server, "HEAD", "/health");
  EXPECT_EQ(status_in(answer), 200U);
  EXPECT_NE(answer.find("Content-Length: 48"), std::string::npos) << answer;
  EXPECT_TRUE(answer.ends_with("\r\n\r\n"));
}

TEST_F(HttpServerTest, OtherMethodsAndPathsSayWhatToDo) {
  const std::string put = fetch(server, "PUT", "/echo");
  EXPECT_EQ(status_in(put), 405U);
  EXPECT_NE(put.find("Allow: GET, HEAD, POST, OPTIONS"), std::string::npos) << put;
  const std::string options = fetch(server, "OPTIONS", "/echo");
  EXPECT_EQ(status_in(options), 204U);
  EXPECT_NE(options.find("Allow: GET, HEAD, POST, OPTIONS"), std::string::npos);
  EXPECT_EQ(options.find("Access-Control"), std::string::npos);
  const std::string missing = fetch(server, "GET", "/missing");
  EXPECT_EQ(status_in(missing), 404U);
  EXPECT_NE(missing.find(R"({"detail":"There is no such route; GET /openapi.json)"), std::string::npos) << missing;
  EXPECT_EQ(status_in(fetch(server, "BREW", "/echo")), 501U);
}

TEST_F(HttpServerTest, ParametersArriveDecoded) {
  EXPECT_TRUE(fetch(server, "GET", "/items/a%2Fb/?q=1&q=%C3%A9+x").ends_with("a/b|1,\u00e9 x"));
}

TEST_F(HttpServerTest, AbsoluteTargetsAreServedIfTheyAgreeWithTheHost) {
  EXPECT_EQ(status_in(fetch(server, "GET", "http://localhost/health")), 200U);
  EXPECT_EQ(status_in(fetch(server, "GET", "http://evil.org/health")), 400U);
}

TEST_F(HttpServerTest, BodiesAreBoundedByTheRoute) {
  EXPECT_EQ(status_in(fetch(server, "POST", "/small", with_length(std::string(100, 'x')), std::string(100, 'x'))),
            200U);
  const std::string promised = fetch(server, "POST", "/small", "Content-Length: 101\r\n");
  EXPECT_EQ(status_in(promised), 413U);
  EXPECT_NE(promised.find(R"({"detail":"The body may have 100 bytes at most here"})"), std::string::npos) << promised;
  const std::string chunk = "65\r\n" + std::string(101, 'x') + "\r\n0\r\n\r\n";
  EXPECT_EQ(status_in(fetch(server, "POST", "/small", "Transfer-Encoding: chunked\r\n", chunk)), 413U);
  EXPECT_EQ(status_in(fetch(server, "POST", "/small", "Content-Length: 99999999999999999999\r\n")), 400U);
}

TEST_F(HttpServerTest, ARefusedUploadStillGetsItsAnswer) {
  const std::string body(500'000, 'x');
  EXPECT_EQ(status_in(fetch(server, "POST", "/small", with_length(body), body)), 413U);
}

TEST_F(HttpServerTest, StreamedBodiesArriveWhole) {
  const std::string body(5'000'000, 'x');
  EXPECT_TRUE(fetch(server, "POST", "/stream", with_length(body), body).ends_with("5000000 in pieces"));
  std::string chunks;
  for (int i = 0; i < 50; ++i) chunks += "2710\r\n" + std::string(10'000, 'y') + "\r\n";
  EXPECT_TRUE(fetch(server, "POST", "/stream", "Transfer-Encoding: chunked\r\n", chunks + "0\r\n\r\n")
                  .ends_with("500000 in pieces"));
  EXPECT_TRUE(fetch(server, "POST", "/stream").ends_with("0 in one"));
}

TEST_F(HttpServerTest, ACautiousClientIsToldToContinue) {
  TestClient client(server.port());
  client.send(request_text("POST", "/echo", "Expect: 100-continue\r\nContent-Length: 2\r\n"));
  EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_TRUE(client.send("ok").read_response().ends_with("POST:ok"));
  // Refused before its body was asked for, it may or may not send it: the connection can't go on.
  client.send(request_text("POST", "/small", "Expect: 100-continue\r\nContent-Length: 101\r\n"));
  const std::string refused = client.read_all();
  EXPECT_EQ(status_in(refused), 413U);
  EXPECT_NE(refused.find("Connection: close"), std::string::npos);
}

TEST_F(HttpServerTest, WhatAHandlerThrowsStaysHere) {
  const std::string answer = fetch(server, "GET", "/throw", "X-Request-Id: abc\r\n");
  EXPECT_EQ(status_in(answer), 500U);
  EXPECT_TRUE(answer.ends_with(R"({"detail":"An unknown error occurred"})")) << answer;
  EXPECT_NE(answer.find("X-Request-Id: abc\r\n"), std::string::npos);
}

TEST_F(HttpServerTest, RequestIdsAreTakenIfSane) {
  EXPECT_NE(fetch(server, "GET", "/health", "X-Request-Id: a-b_c.1:2\r\n").find("X-Request-Id: a-b_c.1:2\r\n"),
            std::string::npos);
  for (const std::string& id : {std::string("a b"), std::string("\"x"), std::string(200, 'a')})
    EXPECT_EQ(fetch(server, "GET", "/health", "X-Request-Id: " + id + "\r\n").find("X-Request-Id: " + id + "\r\n"),
              std::string::npos);
}

TEST_F(HttpServerTest, AHeaderValueCannotSplitTheResponse) {
  EXPECT_NE(fetch(server, "GET", "/split").find("X-Name: a  X-Evil: 1\r\n"), std::string::npos);
}

TEST_F(HttpServerTest, MetricsCountByPattern) {
  fetch(server, "GET", "/items/secret-name");
  fetch(server, "GET", "/nowhere");
  const std::string text = fetch(server, "GET", "/metrics");
  EXPECT_NE(text.find(R"(belljar_http_requests_total{method="GET",route="/items/{name}",status="200"} 1)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(R"(route="unmatched",status="404"} 1)"), std::string::npos);
  EXPECT_NE(text.find("belljar_http_connections 1"), std::string::npos);
  EXPECT_EQ(text.find("secret-name"), std::string::npos);
}

TEST_F(HttpServerTest, TheDescriptionAndItsPageAreServed) {
  const std::string answer = fetch(server, "GET", "/openapi.json");
  const auto document = boost::json::parse(answer.substr(answer.find("\r\n\r\n") + 4));
  EXPECT_TRUE(document.at("paths").as_object().contains("/items/{name}"));
  const std::string page = fetch(server, "GET", "/docs");
  EXPECT_NE(page.find("Content-Security-Policy: default-src 'none'; script-src 'sha256-"), std::string::npos);
  EXPECT_EQ(page.find("http://"), std::string::npos);
  EXPECT_EQ(page.find("https://"), std::string::npos);
}

TEST(HttpServerListenTest, APortThatIsTakenIsNamed) {
  asio::io_context context(1);
  ServerOptions options;
  options.address.port = 0;
  const auto first = HttpServer::listen(context.get_executor(), options);
  ASSERT_TRUE(first);
  options.address.port = (*first)->port();
  const auto second = HttpServer::listen(context.get_executor(), options);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().what.find("is in use"), std::string::npos);
}

TEST(HttpServerListenTest, ANetworkIsListenedOnWithTlsOrByAnExplicitWord) {
  asio::io_context context(1);
  ServerOptions options;
  options.address = {"0.0.0.0", 0};
  EXPECT_FALSE(HttpServer::listen(context.get_executor(), options));
  options.allow_plain = AllowPlain{};
  EXPECT_TRUE(HttpServer::listen(context.get_executor(), options));
}

}  // namespace
}  // namespace bj
