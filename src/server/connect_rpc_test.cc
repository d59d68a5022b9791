#include "server/connect_rpc.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

using namespace std::string_literals;

HttpRequest stream_request(std::string body) {
  HttpRequest request;
  request.headers.add("Content-Type", "application/connect+json");
  request.body = std::move(body);
  return request;
}

TEST(ConnectRpcTest, AMessageIsAFlagALengthAndJson) {
  EXPECT_EQ(rpc_message({{"a", 1}}), "\0\0\0\0\x7{\"a\":1}"s);
  EXPECT_EQ(rpc_end(std::nullopt), "\x2\0\0\0\x2{}"s);
  const std::string end = rpc_end(RpcError{RpcCode::kNotFound, "no"});
  EXPECT_EQ(end.substr(5), R"({"error":{"code":"not_found","message":"no"}})");
  EXPECT_EQ(end[0], 2);
}

TEST(ConnectRpcTest, AStreamsRequestIsOneWholeMessage) {
  const auto read = read_rpc_request(stream_request(rpc_message({{"path", "/x"}})));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->at("path"), "/x");
  for (const std::string& wrong : {""s, "\0\0\0\0\x9{}"s, "\x1\0\0\0\x2{}"s, rpc_message({}) + rpc_message({}),
                                   "\0\0\0\0\x2[]"s, "\0\xff\xff\xff\xff{}"s})
    EXPECT_FALSE(read_rpc_request(stream_request(wrong)));
}

TEST(ConnectRpcTest, UnaryFailuresHaveTheirStatus) {
  const HttpResponse response = rpc_response(rpc_fail(RpcCode::kAlreadyExists, "there"));
  EXPECT_EQ(response.status, 409u);
  EXPECT_EQ(response.body, R"({"code":"already_exists","message":"there"})");
  EXPECT_EQ(rpc_status(RpcCode::kUnauthenticated), 401u);
  EXPECT_EQ(rpc_code_name(RpcCode::kUnauthenticated), "unauthenticated");
}

TEST(ConnectRpcTest, HeadersSayHowLongAndHowOften) {
  HttpRequest request;
  EXPECT_FALSE(rpc_timeout(request));
  EXPECT_EQ(rpc_keepalive(request).count(), 90);
  request.headers.add("Connect-Timeout-Ms", "1500");
  request.headers.add("Keepalive-Ping-Interval", "50");
  EXPECT_EQ(rpc_timeout(request)->count(), 1500);
  EXPECT_EQ(rpc_keepalive(request).count(), 50);
}

}  // namespace
}  // namespace bj
