// Clients that lie about their bodies, flood, dawdle or come from the wrong place.
#include <netinet/tcp.h>

#include "server/dispatcher.h"
#include "server/test_server.h"

namespace bj {
namespace {

Task<HttpResponse> echo(HttpRequest& request) { co_return text_response(200, "text/plain", "<" + request.body + ">"); }

Task<HttpResponse> large(HttpRequest&) { co_return text_response(200, "text/plain", std::string(32 << 20, 'x')); }

// Streamed, from a client who may pause.
Task<HttpResponse> patient(HttpRequest& request) {
  request.body_stream->allow_pauses(std::chrono::hours(1));
  std::string all;
  for (;;) {
    const Result<std::string> piece = co_await request.body_stream->read();
    if (!piece) co_return body_failure(piece.error());
    if (piece->empty()) co_return text_response(200, "text/plain", "<" + all + ">");
    all += *piece;
  }
}

void fill(Router& router) {
  RouteOptions options;
  options.access = Access::kPublic;
  for (const Method method : {Method::kGet, Method::kPost}) router.add(method, "/echo", echo, options);
  router.add(Method::kGet, "/large", large, options);
  options.body = BodyKind::kStreamed;
  options.body_limit = 100;
  router.add(Method::kPost, "/patient", patient, options);
}

ServerOptions impatient() {
  ServerOptions options;
  options.limits.header_time = options.limits.body_time = options.limits.write_time = std::chrono::milliseconds(60);
  options.limits.idle_time = std::chrono::milliseconds(60);
  return options;
}

unsigned status_of_bytes(const std::string& bytes) {
  TestServer server(fill);
  TestClient client(server.port());
  client.send(bytes);
  ::shutdown(client.fd(), SHUT_WR);
  return status_in(client.read_all());
}

TEST(HttpHostileTest, WhatTwoServersCouldReadDifferentlyIsRefused) {
  const std::string chunked = "Transfer-Encoding: chunked\r\n";
  for (const std::string& headers : {
           "Content-Length: 3\r\n" + chunked,
           chunked + "Content-Length: 3\r\n",
           std::string("Content-Length: 3\r\nContent-Length: 4\r\n"),
           std::string("Content-Length: 3\r\nContent-Length: 3\r\n"),
           std::string("Content-Length: 3, 3\r\n"),
           std::string("Content-Length: +3\r\n"),
           std::string("Content-Length: -1\r\n"),
           std::string("Content-Length: 0x3\r\n"),
           std::string("Content-Length: 3 \r\nContent-Length:\r\n"),
           std::string("Transfer-Encoding: gzip\r\n"),
           std::string("Transfer-Encoding: gzip, chunked\r\n"),
           std::string("Transfer-Encoding: chunked, identity\r\n"),
           std::string("Transfer-Encoding: xchunked\r\n"),
           chunked + chunked,
           std::string("Transfer-Encoding : chunked\r\n"),
           std::string("Host: localhost\r\n"),
           std::string("X: a\nContent-Length: 3\r\n"),
           std::string("X: a\rb\r\n"),
           std::string("X: a\0b\r\n", 8),
           std::string("X\0Y: a\r\n", 8),
           std::string(": a\r\n"),
           std::string("no colon\r\n"),
       })
    EXPECT_EQ(status_of_bytes(request_text("POST", "/echo", headers, "abc")), 400U) << headers;
  EXPECT_EQ(status_of_bytes("POST /echo HTTP/1.0\r\nHost: localhost\r\n" + chunked + "\r\n0\r\n\r\n"), 400U);
}

TEST(HttpHostileTest, AFoldedLineIsPartOfItsValueAndNoHeader) {
  TestServer server(fill);
  TestClient client(server.port());
  client.send(request_text("POST", "/echo", "X: a\r\n Content-Length: 3\r\n", request_text("GET", "/echo")));
  EXPECT_TRUE(client.read_response().ends_with("<>"));
  EXPECT_TRUE(client.read_response().ends_with("<>"));
}

TEST(HttpHostileTest, BadChunksAreRefused) {
  for (const char* body :
       {"x\r\n", "-1\r\nabc\r\n", "0x3\r\nabc\r\n", "3\nabc\r\n", "2\r\nabc\r\n0\r\n\r\n", "ffffffffffffffff1\r\n",
        " 3\r\nabc\r\n", "3 \r\nabc\r\n0\r\n\r\n", "\r\n", "0\r\nContent-Length: 3\r\n\r\n", "3\r\nab"})
    EXPECT_EQ(status_of_bytes(request_text("POST", "/echo", "Transfer-Encoding: chunked\r\n", body)), 400U) << body;
  const std::string endless = "3;" + std::string(100'000, 'a');
  EXPECT_EQ(status_of_bytes(request_text("POST", "/echo", "Transfer-Encoding: chunked\r\n", endless)), 400U);
}

TEST(HttpHostileTest, BadRequestLinesAreRefused) {
  for (const std::string& line :
       {std::string("GET  /echo HTTP/1.1"), std::string("GET /echo"), std::string("/echo HTTP/1.1"),
        std::string("GET /echo HTTP/1.1 "), std::string("GET echo HTTP/1.1"), std::string("GET /%zz HTTP/1.1"),
        std::string("GET /echo?%00 HTTP/1.1"), std::string("GET /echo#x HTTP/1.1"), std::string("GET * HTTP/1.1"),
        std::string("GET /a\0b HTTP/1.1", 18), std::string("G\x01T / HTTP/1.1"),
        std::string("\x16\x03\x01\x02garbage")}) {
    const unsigned status = status_of_bytes(line + "\r\nHost: localhost\r\n\r\n");
    EXPECT_TRUE(status == 400 || status == 505) << line << " " << status;
  }
  EXPECT_EQ(status_of_bytes("GET /echo HTTP/2.0\r\nHost: localhost\r\n\r\n"), 505U);
  EXPECT_EQ(status_of_bytes("GET /echo HTTP/1.1\r\n\r\n"), 400U);
}

TEST(HttpHostileTest, HeaderFloodsAreRefused) {
  EXPECT_EQ(status_of_bytes("GET /" + std::string(100'000, 'a') + " HTTP/1.1\r\nHost: localhost\r\n\r\n"), 431U);
  EXPECT_EQ(status_of_bytes(request_text("GET", "/echo", "X: " + std::string(100'000, 'a') + "\r\n")), 431U);
  std::string many;
  for (int i = 0; i < 200; ++i) many += "A: b\r\n";
  EXPECT_EQ(status_of_bytes(request_text("GET", "/echo", many)), 431U);
}

TEST(HttpHostileTest, ErrorsAreJsonWithARequestId) {
  TestServer server(fill);
  TestClient client(server.port());
  const std::string answer = client.send("nonsense\r\n\r\n").read_all();
  EXPECT_NE(answer.find("{\"detail\":\"The request can't be read: "), std::string::npos) << answer;
  EXPECT_NE(answer.find("X-Request-Id: "), std::string::npos);
  EXPECT_NE(answer.find("Connection: close"), std::string::npos);
}

TEST(HttpHostileTest, ASlowHeaderEndsWith408) {
  TestServer server(fill, impatient());
  EXPECT_EQ(status_in(TestClient(server.port()).send("GET /echo HT").read_all()), 408U);
}

TEST(HttpHostileTest, ASlowBodyEndsWith408) {
  TestServer server(fill, impatient());
  TestClient client(server.port());
  EXPECT_EQ(status_in(client.send(request_text("POST", "/echo", "Content-Length: 10\r\n", "abc")).read_all()), 408U);
}

// Once, who sent what somebody types was cut off as too slow.
TEST(HttpHostileTest, ABodyWhoseClientMayPauseIsWaitedFor) {
  TestServer server(fill, impatient());
  TestClient client(server.port()), other(server.port());
  client.send(request_text("POST", "/patient", "Expect: 100-continue\r\nContent-Length: 6\r\n"));
  EXPECT_EQ(status_in(client.read_until("\r\n\r\n")), 100U);
  client.send("abc");
  // By then another one has been waited for as long as is usual.
  EXPECT_EQ(status_in(other.send(request_text("POST", "/echo", "Content-Length: 10\r\n", "abc")).read_all()), 408U);
  const std::string answer = client.send("def").read_response();
  EXPECT_EQ(status_in(answer), 200U);
  EXPECT_TRUE(answer.ends_with("<abcdef>")) << answer;
}

TEST(HttpHostileTest, AnIdleConnectionIsClosedWithoutAWord) {
  TestServer server(fill, impatient());
  TestClient silent(server.port());
  EXPECT_EQ(silent.read_all(), "");
  TestClient client(server.port());
  EXPECT_EQ(status_in(client.send(request_text("GET", "/echo")).read_response()), 200U);
  EXPECT_EQ(client.read_all(), "");
}

TEST(HttpHostileTest, AReaderThatDoesNotReadIsDropped) {
  TestServer server(fill, impatient());
  TestClient client(server.port());
  client.send(request_text("GET", "/large"));
  // The server's own count says when it gave up; only then is read what was sent.
  while (fetch(server, "GET", "/metrics").find("route=\"/large\"") == std::string::npos) {
  }
  EXPECT_LT(client.read_all().size(), size_t{32} << 20);
}

TEST(HttpHostileTest, TooManyConnectionsAreTurnedAway) {
  ServerOptions options;
  options.limits.connections = 2;
  TestServer server(fill, options);
  TestClient first(server.port()), second(server.port());
  for (TestClient* client : {&first, &second}) {
    client->send(request_text("POST", "/echo", "Expect: 100-continue\r\n" + with_length("hello")));
    EXPECT_EQ(status_in(client->read_until("\r\n\r\n")), 100U);  // it is being served from here on
  }
  TestClient third(server.port());
  const std::string turned_away = third.read_response();
  EXPECT_EQ(status_in(turned_away), 503U);
  EXPECT_TRUE(turned_away.ends_with("later\"}"));
  EXPECT_EQ(status_in(first.send("hello").read_response()), 200U);
}

// Ten thousand idle sockets kept everybody else out.
TEST(HttpHostileTest, ConnectionsThatOnlyWaitMakeRoomForOthers) {
  ServerOptions options;
  options.limits.connections = 3;
  TestServer server(fill, options);
  TestClient served(server.port());
  EXPECT_EQ(status_in(served.send(request_text("GET", "/echo")).read_response()), 200U);
  TestClient silent(server.port()), slow(server.port());
  slow.send("GET /echo HTT");
  EXPECT_EQ(status_in(fetch(server, "GET", "/echo")), 200U);
  EXPECT_EQ(silent.read_all(), "");  // the one that has waited longest without a request
  TestClient another(server.port());
  EXPECT_EQ(status_in(fetch(server, "GET", "/echo")), 200U);
  EXPECT_EQ(slow.read_all(), "");
  EXPECT_EQ(status_in(served.send(request_text("GET", "/echo")).read_response()), 200U);
}

TEST(HttpHostileTest, OtherHostsAndOriginsAreRefused) {
  TestServer server(fill);
  EXPECT_EQ(status_of_bytes("GET /health HTTP/1.1\r\nHost: evil.org\r\n\r\n"), 403U);
  EXPECT_EQ(status_of_bytes("GET /health HTTP/1.0\r\n\r\n"), 403U);
  EXPECT_EQ(status_in(fetch(server, "POST", "/echo", "Origin: http://evil.org\r\n")), 403U);
  EXPECT_EQ(status_in(fetch(server, "POST", "/echo", "Origin: null\r\n")), 403U);
  EXPECT_EQ(status_in(fetch(server, "POST", "/echo", "Origin: http://localhost\r\n")), 200U);
  const std::string read = fetch(server, "GET", "/echo", "Origin: http://evil.org\r\n");
  EXPECT_EQ(status_in(read), 403U);
  EXPECT_EQ(read.find("Access-Control"), std::string::npos);
}

TEST(HttpHostileTest, AConfiguredOriginMayCallAndRead) {
  ServerOptions options;
  options.site.origins = {"https://console.example.org"};
  TestServer server(fill, options);
  const std::string origin = "Origin: https://console.example.org\r\n";
  const std::string preflight =
      fetch(server, "OPTIONS", "/echo", origin + "Access-Control-Request-Headers: authorization\r\n");
  EXPECT_NE(preflight.find("Access-Control-Allow-Origin: https://console.example.org\r\n"), std::string::npos);
  EXPECT_NE(preflight.find("Access-Control-Allow-Headers: authorization\r\n"), std::string::npos);
  EXPECT_EQ(status_in(fetch(server, "POST", "/echo", origin)), 200U);
}

}  // namespace
}  // namespace bj
