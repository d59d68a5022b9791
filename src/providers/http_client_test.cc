#include "providers/http_client.h"

#include <gtest/gtest.h>

#include "providers/http_server_for_test.h"

namespace bj {
namespace {

class HttpClientTest : public testing::Test {
 protected:
  Result<ClientResponse> send(ClientRequest request) {
    Result<ClientResponse> result = fail(Code::kInternal, "never answered");
    asio::co_spawn(io_, exchange(std::move(request), &result), asio::detached);
    io_.run();
    return result;
  }
  Task<void> exchange(ClientRequest request, Result<ClientResponse>* result) {
    *result = co_await client_->send(std::move(request));
    server_.stop();
  }
  ClientRequest get(const std::string& path) {
    ClientRequest request;
    request.url = server_.url(path);
    return request;
  }

  asio::io_context io_;
  HttpServerForTest::Answer answer_ = [](const std::string&) { return HttpServerForTest::response("200 OK", "hello"); };
  HttpServerForTest server_{io_, [this](const std::string& request) { return answer_(request); }};
  std::unique_ptr<HttpClient> client_ = HttpClient::create().value();
};

TEST_F(HttpClientTest, SendsMethodHeadersAndBodyAndReadsTheResponse) {
  answer_ = [](const std::string&) { return HttpServerForTest::response("201 Created", "made", "X-Thing:  a b \r\n"); };
  ClientRequest request = get("/x?y=1");
  request.method = "POST";
  request.headers = {{"Authorization", "Bearer k"}, {"Content-Type", "application/json"}};
  request.body = "{}";
  const auto response = send(request);
  ASSERT_TRUE(response) << response.error().what;
  EXPECT_EQ(response->status, 201);
  EXPECT_EQ(response->body, "made");
  EXPECT_EQ(response->header("x-thing"), "a b");
  ASSERT_EQ(server_.requests.size(), 1u);
  EXPECT_TRUE(server_.requests[0].starts_with("POST /x?y=1 HTTP/1.1\r\n"));
  EXPECT_NE(server_.requests[0].find("Authorization: Bearer k\r\n"), std::string::npos);
  EXPECT_TRUE(server_.requests[0].ends_with("\r\n\r\n{}"));
}

TEST_F(HttpClientTest, AResponseThatIsTooLargeIsRefused) {
  ClientRequest request = get("/");
  request.max_response_bytes = 4;
  const auto response = send(request);
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, Code::kExhausted);
}

// The limit is for what is taken as it comes: a registry that announced a layer of 8 GiB could send an error as long,
// and all of it was kept in memory.
TEST_F(HttpClientTest, AFailureThatIsAsLongAsAStreamIsNotCollected) {
  answer_ = [](const std::string&) { return HttpServerForTest::response("404 Not Found", std::string(1 << 20, 'x')); };
  ClientRequest request = get("/");
  request.max_response_bytes = size_t{8} << 30;
  request.on_body = [](std::string_view) { return true; };
  const auto response = send(request);
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, Code::kExhausted);
}

TEST_F(HttpClientTest, AShortFailureIsToldWhereASuccessWouldBeTakenAsItComes) {
  answer_ = [](const std::string&) { return HttpServerForTest::response("404 Not Found", "no such thing"); };
  ClientRequest request = get("/");
  request.on_body = [](std::string_view) { return true; };
  const auto response = send(request);
  ASSERT_TRUE(response) << response.error().what;
  EXPECT_EQ(response->status, 404);
  EXPECT_EQ(response->body, "no such thing");
}

TEST_F(HttpClientTest, ASilentServerIsGivenUpAndOnlyItsHostIsNamed) {
  answer_ = [](const std::string&) { return std::string(); };
  ClientRequest request = get("/path?token=secret");
  request.timeout = std::chrono::milliseconds(50);
  const auto response = send(request);
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, Code::kUnavailable);
  EXPECT_EQ(response.error().what.find("secret"), std::string::npos);
  EXPECT_NE(response.error().what.find("127.0.0.1"), std::string::npos);
}

TEST_F(HttpClientTest, RedirectsAreFollowedOnTheSameHostOnly) {
  answer_ = [](const std::string& request) {
    if (request.starts_with("GET /a ")) return HttpServerForTest::response("302 Found", "", "Location: /b\r\n");
    if (request.starts_with("GET /b ")) {
      return HttpServerForTest::response("302 Found", "", "Location: http://localhost:1/c\r\n");
    }
    return HttpServerForTest::response("200 OK", "");
  };
  const auto response = send(get("/a"));
  ASSERT_TRUE(response) << response.error().what;
  EXPECT_EQ(response->status, 302);
  EXPECT_EQ(server_.requests.size(), 2u);
}

TEST_F(HttpClientTest, APostIsNotRepeatedAsAGet) {
  answer_ = [](const std::string&) { return HttpServerForTest::response("302 Found", "", "Location: /b\r\n"); };
  ClientRequest request = get("/a");
  request.method = "POST";
  EXPECT_EQ(send(request)->status, 302);
  EXPECT_EQ(server_.requests.size(), 1u);
}

TEST_F(HttpClientTest, RequestsThatCannotBeSentAreRefused) {
  ClientRequest file;
  file.url = "file:///etc/passwd";
  EXPECT_EQ(send(file).error().code, Code::kInvalid);
  io_.restart();
  ClientRequest header;
  header.url = "http://127.0.0.1:1/";
  header.headers = {{"X", "a\r\nEvil: 1"}};
  EXPECT_EQ(send(header).error().code, Code::kInvalid);
}

TEST_F(HttpClientTest, AnUnreachableServerIsUnavailable) {
  ClientRequest request;
  request.url = "http://127.0.0.1:1/";
  const auto response = send(request);
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, Code::kUnavailable);
}

TEST_F(HttpClientTest, TheClientsEndFailsWhatIsUnderWay) {
  answer_ = [this](const std::string&) {
    asio::post(io_, [this] { client_.reset(); });
    return std::string();
  };
  const auto result = send(get("/"));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::kUnavailable);
}

}  // namespace
}  // namespace bj
