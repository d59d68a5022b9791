#include "egress/http_head.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

using namespace std::string_literals;
using Status = HttpHeadReader::Status;

HttpHead read(const std::string& bytes) {
  HttpHeadReader reader;
  EXPECT_EQ(reader.read(bytes), Status::kFound) << bytes << reader.reason();
  return reader.head();
}

TEST(HttpHeadTest, ARequestIsRead) {
  const std::string head =
      "POST /v1/x?y=1 HTTP/1.1\r\nHost: API.Example:8080\r\nContent-Length: 12\r\nX-A:  b \r\n\r\n";
  const HttpHead request = read(head + "body");
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.target, "/v1/x?y=1");
  EXPECT_EQ(request.path, "/v1/x");
  EXPECT_EQ(request.authority.name, "api.example");
  EXPECT_EQ(request.authority.port, 8080);
  EXPECT_EQ(request.content_length, 12u);
  EXPECT_EQ(request.size_bytes, head.size());
  EXPECT_EQ(*request.field("x-a"), "b");
  EXPECT_EQ(request.field("x-b"), nullptr);
  EXPECT_TRUE(request.keep_alive);
  EXPECT_FALSE(request.is_chunked || request.is_connect || request.is_absolute || request.overrides_method);
}

TEST(HttpHeadTest, ItIsTheSameHoweverItArrives) {
  const std::string bytes =
      "GET / HTTP/1.1\r\nHost: a.example\r\nUpgrade: WebSocket\r\nConnection: keep-alive, Upgrade\r\n\r\n";
  HttpHeadReader reader;
  for (size_t i = 0; i < bytes.size(); ++i)
    ASSERT_EQ(reader.read(std::string_view(bytes).substr(0, i)), Status::kNeedMore) << i;
  ASSERT_EQ(reader.read(bytes), Status::kFound);
  EXPECT_EQ(reader.head().upgrade, "websocket");
}

TEST(HttpHeadTest, ProxyFormsAreRead) {
  const HttpHead connect = read("CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n");
  EXPECT_TRUE(connect.is_connect);
  EXPECT_EQ(connect.authority.name, "a.example");
  EXPECT_EQ(connect.authority.port, 443);
  EXPECT_EQ(read("CONNECT [2606:4700::1]:443 HTTP/1.0\r\n\r\n").authority.address->text(), "2606:4700::1");
  EXPECT_EQ(read("CONNECT 8.8.8.8:53 HTTP/1.1\r\nHost: 8.8.8.8\r\n\r\n").authority.address->text(), "8.8.8.8");
  const HttpHead absolute = read("GET http://A.example/x?y HTTP/1.1\r\nHost: a.example:80\r\n\r\n");
  EXPECT_TRUE(absolute.is_absolute);
  EXPECT_EQ(absolute.path, "/x");
  EXPECT_EQ(read("GET http://a.example?x HTTP/1.1\r\nHost: a.example\r\n\r\n").path, "/");
  EXPECT_EQ(read("OPTIONS * HTTP/1.1\r\nHost: a.example\r\n\r\n").path, "*");
}

TEST(HttpHeadTest, WhatTheGateMustKnowIsTold) {
  EXPECT_TRUE(read("POST / HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: Chunked\r\n\r\n").is_chunked);
  EXPECT_EQ(read("GET / HTTP/1.1\r\nHost: a.example\r\nUpgrade: h2c\r\n\r\n").upgrade, "h2c");
  EXPECT_TRUE(read("GET / HTTP/1.1\r\nHost: a.example\r\nX-HTTP-Method-Override: DELETE\r\n\r\n").overrides_method);
  for (const std::string name : {"X_HTTP_Method_Override", "X-HTTP_Method", "x_method-override"})
    EXPECT_TRUE(read("GET / HTTP/1.1\r\nHost: a.example\r\n" + name + ": DELETE\r\n\r\n").overrides_method) << name;
  for (const std::string name : {"X-Original-URL", "X-Rewrite-Url", "x_original_url"}) {
    const HttpHead head = read("GET / HTTP/1.1\r\nHost: a.example\r\n" + name + ": /admin\r\n\r\n");
    EXPECT_TRUE(head.overrides_path) << name;
    EXPECT_FALSE(head.overrides_method) << name;
  }
  EXPECT_FALSE(read("GET / HTTP/1.1\r\nHost: a.example\r\nConnection: Close\r\n\r\n").keep_alive);
  EXPECT_FALSE(read("GET / HTTP/1.0\r\nHost: a.example\r\n\r\n").keep_alive);
}

TEST(HttpHeadTest, OtherProtocolsAreNotHttp) {
  for (const auto& bytes : {"\x16\3\1\2\0"s, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"s, "SSH-2.0-OpenSSH\r\n"s,
                            "EHLO me\r\n"s, "\r\nGET / HTTP/1.1\r\n"s, " GET / HTTP/1.1\r\n"s, "\0\0\0\x10"s,
                            std::string(40, 'A'), "GET / \r\n"s, "GET /\n"s}) {
    HttpHeadReader reader;
    EXPECT_EQ(reader.read(bytes), Status::kNotHttp) << bytes;
    EXPECT_FALSE(reader.reason().empty());
  }
}

// Families 18 and 21.
TEST(HttpHeadTest, WhatCouldBeReadInTwoWaysIsRefused) {
  const std::string line = "POST / HTTP/1.1\r\n", host = "Host: good.example\r\n", start = line + host;
  const struct {
    const char* what;
    std::string bytes;
  } cases[] = {
      {"two hosts", start + "Host: evil.example\r\n\r\n"},
      {"the same host twice", start + host + "\r\n"},
      {"no host", line + "\r\n"},
      {"an empty host", line + "Host:\r\n\r\n"},
      {"a list of hosts", line + "Host: good.example, evil.example\r\n\r\n"},
      {"a user in the host", line + "Host: good.example@evil.example\r\n\r\n"},
      {"a NUL in the host", line + "Host: good.example\0.evil\r\n\r\n"s},
      {"a zone in the host", line + "Host: [fe80::1%25eth0]\r\n\r\n"},
      {"a decimal host", line + "Host: 2130706433\r\n\r\n"},
      {"an octal host", line + "Host: 0177.0.0.1\r\n\r\n"},
      {"a host with port 0", line + "Host: good.example:0\r\n\r\n"},
      {"a host with an empty port", line + "Host: good.example:\r\n\r\n"},
      {"a host with port 80-90", line + "Host: good.example:80-90\r\n\r\n"},
      {"brackets around a name", line + "Host: [good.example]\r\n\r\n"},
      {"not ASCII in the host", line + "Host: g\xC3\xB6od.example\r\n\r\n"},
      {"a target for another host", "GET http://evil.example/ HTTP/1.1\r\n" + host + "\r\n"},
      {"a target for another port", "GET http://good.example:8080/ HTTP/1.1\r\n" + host + "\r\n"},
      {"an https target", "GET https://good.example/ HTTP/1.1\r\n" + host + "\r\n"},
      {"a user in the target", "GET http://good.example@evil.example/ HTTP/1.1\r\n" + host + "\r\n"},
      {"a backslash in the target", "GET http://good.example\\@evil/ HTTP/1.1\r\n" + host + "\r\n"},
      {"a fragment in the target", "GET /a#b HTTP/1.1\r\n" + host + "\r\n"},
      {"a target without a slash", "GET a HTTP/1.1\r\n" + host + "\r\n"},
      {"a star that is no OPTIONS", "GET * HTTP/1.1\r\n" + host + "\r\n"},
      {"CONNECT to another host", "CONNECT evil.example:443 HTTP/1.1\r\n" + host + "\r\n"},
      {"CONNECT with another port", "CONNECT good.example:22 HTTP/1.1\r\nHost: good.example:443\r\n\r\n"},
      {"CONNECT without a port", "CONNECT good.example HTTP/1.1\r\n" + host + "\r\n"},
      {"CONNECT to a path", "CONNECT /x HTTP/1.1\r\n" + host + "\r\n"},
      {"CONNECT with a body", "CONNECT good.example:443 HTTP/1.1\r\n" + host + "Content-Length: 3\r\n\r\n"},
      {"CONNECT in lower case", "connect good.example:443 HTTP/1.1\r\n" + host + "\r\n"},
      {"CONNECT to a decimal address", "CONNECT 2130706433:80 HTTP/1.1\r\n\r\n"},
      {"length and coding", start + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"},
      {"two lengths", start + "Content-Length: 3\r\nContent-Length: 5\r\n\r\n"},
      {"the same length twice", start + "Content-Length: 3\r\nContent-Length: 3\r\n\r\n"},
      {"a list of lengths", start + "Content-Length: 3, 3\r\n\r\n"},
      {"a signed length", start + "Content-Length: +3\r\n\r\n"},
      {"a negative length", start + "Content-Length: -3\r\n\r\n"},
      {"a hexadecimal length", start + "Content-Length: 0x3\r\n\r\n"},
      {"a huge length", start + "Content-Length: 99999999999999999999\r\n\r\n"},
      {"an empty length", start + "Content-Length:\r\n\r\n"},
      {"a length with an underscore", start + "Content_Length: 3\r\n\r\n"},
      {"two codings", start + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n"},
      {"a list of codings", start + "Transfer-Encoding: gzip, chunked\r\n\r\n"},
      {"an odd coding", start + "Transfer-Encoding: xchunked\r\n\r\n"},
      {"a coding with a vertical tab", start + "Transfer-Encoding: \vchunked\r\n\r\n"},
      {"a coding in HTTP/1.0", "POST / HTTP/1.0\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n"},
      {"a space before the colon", line + "Host : good.example\r\n\r\n"},
      {"a tab before the colon", start + "Transfer-Encoding\t: chunked\r\n\r\n"},
      {"a folded line", start + "X: a\r\n b\r\n\r\n"},
      {"a folded first header", line + " Host: evil.example\r\n" + host + "\r\n"},
      {"a line without a colon", start + "junk\r\n\r\n"},
      {"a header without a name", start + ": x\r\n\r\n"},
      {"a bare LF", "POST / HTTP/1.1\n" + host + "\r\n"},
      {"a bare LF between headers", start + "X: a\nY: b\r\n\r\n"},
      {"a bare LF at the end", start + "\n"},
      {"a bare CR", start + "X: a\rTransfer-Encoding: chunked\r\n\r\n"},
      {"a CR more", start + "X: a\r\r\n\r\n"},
      {"a NUL", start + "X: a\0b\r\n\r\n"s},
      {"two spaces", "POST  / HTTP/1.1\r\n" + host + "\r\n"},
      {"a space in the target", "POST /a b HTTP/1.1\r\n" + host + "\r\n"},
      {"a tab in the request line", "POST\t/ HTTP/1.1\r\n" + host + "\r\n"},
      {"a space at the end of the line", "POST / HTTP/1.1 \r\n" + host + "\r\n"},
      {"HTTP/2.0", "POST / HTTP/2.0\r\n" + host + "\r\n"},
      {"HTTP/1.2", "POST / HTTP/1.2\r\n" + host + "\r\n"},
      {"http/1.1", "POST / http/1.1 HTTP/\r\n" + host + "\r\n"},
      {"Connection: Host", start + "Connection: close, Host\r\n\r\n"},
      {"Connection: Transfer-Encoding", start + "Connection: transfer-encoding\r\n\r\n"},
      {"two upgrades", start + "Upgrade: h2c\r\nUpgrade: websocket\r\n\r\n"},
      {"a long head", start + "X: " + std::string(40000, 'x') + "\r\n\r\n"},
      {"a long line without an end", line.substr(0, 6) + std::string(40000, 'x')},
  };
  for (const auto& one : cases) {
    HttpHeadReader reader;
    const Status status = reader.read(one.bytes);
    EXPECT_TRUE(status == Status::kRefused || (status == Status::kNotHttp && one.what == "a tab in the request line"s))
        << one.what;
    EXPECT_FALSE(reader.reason().empty()) << one.what;
  }
}

TEST(HttpHeadTest, FieldsAreCounted) {
  std::string bytes = "GET / HTTP/1.1\r\nHost: a.example\r\n";
  for (size_t i = 0; i < kMaxHttpFields; ++i) bytes += "X: y\r\n";
  HttpHeadReader reader;
  EXPECT_EQ(reader.read(bytes + "\r\n"), Status::kRefused);
}

}  // namespace
}  // namespace bj
