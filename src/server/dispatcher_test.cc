#include "server/dispatcher.h"

#include <gtest/gtest.h>

#include <optional>

namespace bj {
namespace {

class EmptyBody : public BodyReader {
 public:
  Task<Result<std::string>> read() override { co_return std::string(); }
  std::optional<uint64_t> length() const override { return 0; }
  void allow_pauses(std::chrono::milliseconds) override {}
};

// A server with one origin, whose sandboxes' ports refuse everybody.
class DispatcherTest : public testing::Test {
 protected:
  HttpResponse ask(Method method, const std::string& path, const Headers& headers) {
    HttpRequest request;
    request.method = method;
    request.path = path;
    request.local = "127.0.0.1";
    request.headers = headers;
    if (!request.headers.has("Host")) request.headers.add("Host", "localhost");
    EmptyBody nothing;
    LimitedBody body(nothing);
    std::optional<HttpResponse> answer;
    asio::io_context io;
    asio::co_spawn(io, [&]() -> Task<void> { answer = co_await dispatcher_.respond(request, body); }, asio::detached);
    io.run();
    return std::move(*answer);
  }
  static Headers preflight(const std::string& origin, const std::string& host, const std::string& announced) {
    Headers headers;
    headers.add("Host", host);
    headers.add("Origin", origin);
    headers.add("Access-Control-Request-Method", "POST");
    headers.add("Access-Control-Request-Headers", announced);
    return headers;
  }
  HttpResponse preflight_of(const std::string& path, const Headers& headers) {
    return ask(Method::kOptions, path, headers);
  }

  static SitePolicy site() {
    SitePolicy policy;
    policy.origins = {kOrigin};
    policy.domain = "localhost";
    return policy;
  }
  static Task<HttpResponse> refuse_traffic(HttpRequest&, Traffic) { co_return error_response(401, "no token"); }

  static constexpr const char* kOrigin = "https://app.example";
  static constexpr const char* kEnvd = "49983-sbabc.localhost";

  Router router_;
  Metrics metrics_;
  Dispatcher dispatcher_{
      Service{router_, metrics_, nullptr, refuse_traffic, {49983, 49999}}, site(), {}, Dispatcher::Reach::kLoopback};
};

TEST_F(DispatcherTest, APageOfOurOriginMayAskWhatItMaySendToASandboxWithoutItsToken) {
  for (const char* const host : {kEnvd, "49999-sbabc.localhost"}) {
    const HttpResponse answer = preflight_of("/process.Process/List", preflight(kOrigin, host, "x-access-token"));
    EXPECT_EQ(answer.status, 204U) << host;
    EXPECT_EQ(answer.headers.get("Access-Control-Allow-Origin"), kOrigin);
    EXPECT_NE(answer.headers.get("Access-Control-Allow-Methods").find("POST"), std::string_view::npos);
    EXPECT_EQ(answer.headers.get("Access-Control-Allow-Headers"), "x-access-token");
  }
}

TEST_F(DispatcherTest, AlsoWhereHeadersNameTheSandboxWhichAPreflightCantBring) {
  const std::string announced = "content-type, e2b-sandbox-id,e2b-sandbox-port";
  EXPECT_EQ(preflight_of("/filesystem.Filesystem/Stat", preflight(kOrigin, "localhost", announced)).status, 204U);
  EXPECT_EQ(preflight_of("/nothing", preflight(kOrigin, "localhost", "content-type")).status, 404U);
}

TEST_F(DispatcherTest, PagesOfOtherOriginsAndProgramsOfSandboxesAreAskedAsBefore) {
  const HttpResponse foreign = preflight_of("/files", preflight("https://evil.example", kEnvd, "x-access-token"));
  EXPECT_EQ(foreign.status, 401U);
  EXPECT_FALSE(foreign.headers.has("Access-Control-Allow-Origin"));
  EXPECT_EQ(preflight_of("/", preflight(kOrigin, "8000-sbabc.localhost", "x")).status, 401U);
  EXPECT_EQ(ask(Method::kPost, "/files", preflight(kOrigin, kEnvd, "x")).status, 401U);
}

TEST_F(DispatcherTest, WhatPagesAndLimitsAreToldInHeadersMayBeRead) {
  Headers headers;
  headers.add("Origin", kOrigin);
  const std::string exposed(ask(Method::kGet, "/nothing", headers).headers.get("Access-Control-Expose-Headers"));
  for (const char* const name : {"X-Request-Id", "X-Next-Token", "X-Total-Running", "Retry-After"})
    EXPECT_TRUE(has_token(exposed, name)) << name;
}

}  // namespace
}  // namespace bj
