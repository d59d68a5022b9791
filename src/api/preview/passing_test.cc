#include "api/preview/passing.h"

#include <gtest/gtest.h>

namespace bj::preview {
namespace {

HttpRequest request_with(std::initializer_list<Headers::Field> fields) {
  HttpRequest request;
  request.headers = Headers(fields);
  request.path = "/p";
  request.peer = "192.0.2.1";
  return request;
}

const Traffic kByHost{Traffic::By::kHost, "sba", 80, "/p"};
const Traffic kByPath{Traffic::By::kPath, "sba", 80, "/p"};

ResponseHead answer_of(const std::string& text) {
  HttpResponseReader reader;
  EXPECT_EQ(reader.read(text), HttpResponseReader::Status::kFound) << reader.reason();
  return reader.response();
}

TEST(PassingTest, KeysAndTokensStayOutside) {
  HttpRequest request = request_with({{"Host", "80-sba.localhost"},
                                      {"X-API-Key", "e2b_1"},
                                      {"Authorization", "Bearer e2b_1"},
                                      {"X-Access-Token", "t"},
                                      {"e2b-traffic-access-token", "t"},
                                      {"X-Belljar-Token", "t"},
                                      {"Cookie", "a=1; belljar_preview=secret; b=2"},
                                      {"Accept", "text/html"}});
  request.query_text = "x=1&belljar_token=secret&y=%20";
  const std::string head = request_head(request, kByHost, "");
  EXPECT_EQ(head,
            "GET /p?x=1&y=%20 HTTP/1.1\r\nHost: 80-sba.localhost\r\nCookie: a=1; b=2\r\nAccept: text/html\r\n"
            "X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-Host: 80-sba.localhost\r\nX-Forwarded-Proto: http\r\n"
            "Connection: close\r\n\r\n");
}

TEST(PassingTest, AKeyStaysOutsideWhateverItsSchemeAndATokenHoweverItIsSpelled) {
  for (const char* given : {"e2b_1", "Token e2b_1", "bearer \t e2b_1", "Bearer bj_1 "}) {
    const std::string head = request_head(request_with({{"Host", "h"}, {"Authorization", given}}), kByHost, "");
    EXPECT_EQ(head.find("Authorization"), std::string::npos) << given;
  }
  EXPECT_EQ(query_without_token("a=1&belljar%5Ftoken=secret&b=%"), "a=1&b=%");
}

// The path's form shares its host, and so its cookies, with the API and whatever else has that name.
TEST(PassingTest, CookiesOfTheApisHostStayOutside) {
  const std::string head = request_head(request_with({{"Host", "h"}, {"Cookie", "session=of another"}}), kByPath, "");
  EXPECT_EQ(head.find("Cookie"), std::string::npos);
}

TEST(PassingTest, APasswordIsAskedForInASandboxesOwnOriginOnly) {
  const ResponseHead answer = answer_of("HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=x\r\n\r\n");
  EXPECT_FALSE(passed_on(answer, kByPath).headers.has("www-authenticate"));
  EXPECT_TRUE(passed_on(answer, kByHost).headers.has("www-authenticate"));
}

TEST(PassingTest, TheAppsOwnAuthorizationPasses) {
  const std::string head =
      request_head(request_with({{"Host", "h"}, {"Authorization", "Basic abc"}}), kByHost, "localhost:80");
  EXPECT_NE(head.find("Authorization: Basic abc\r\n"), std::string::npos);
  EXPECT_NE(head.find("Host: localhost:80\r\n"), std::string::npos);
}

TEST(PassingTest, WhatIsOfOneHopEndsThere) {
  const std::string head = request_head(request_with({{"Host", "h"},
                                                      {"Connection", "close, X-Secret"},
                                                      {"X-Secret", "1"},
                                                      {"TE", "trailers"},
                                                      {"Transfer-Encoding", "chunked"},
                                                      {"Content-Length", "3"}}),
                                        kByHost, "");
  EXPECT_EQ(head.find("X-Secret"), std::string::npos);
  EXPECT_EQ(head.find("Content-Length"), std::string::npos);
  EXPECT_NE(head.find("Transfer-Encoding: chunked\r\n"), std::string::npos);
}

TEST(PassingTest, CookiesOfASandboxAreOfItsOwnNameOnly) {
  const HttpResponse response = passed_on(
      answer_of("HTTP/1.1 200 OK\r\nSet-Cookie: a=1; Domain=localhost; Path=/\r\nStrict-Transport-Security: x\r\n\r\n"),
      kByHost);
  EXPECT_EQ(response.headers.get("set-cookie"), "a=1; Path=/");
  EXPECT_FALSE(response.headers.has("strict-transport-security"));
  EXPECT_FALSE(response.headers.has("content-security-policy"));
}

TEST(PassingTest, APageInOurOriginHasNoOrigin) {
  const HttpResponse response =
      passed_on(answer_of("HTTP/1.1 302 Found\r\nSet-Cookie: a=1\r\nLocation: /next\r\n\r\n"), kByPath);
  EXPECT_FALSE(response.headers.has("set-cookie"));
  EXPECT_EQ(response.headers.get("location"), "/v1/sandboxes/sba/ports/80/next");
  EXPECT_TRUE(response.headers.get("content-security-policy").starts_with("sandbox"));
  EXPECT_EQ(response.headers.get("content-security-policy").find("same-origin"), std::string_view::npos);
}

}  // namespace
}  // namespace bj::preview
