// Who may do what: keys, roles, public routes, wrong keys.
#include "server/test_server.h"

namespace bj {
namespace {

Task<HttpResponse> who(HttpRequest& request) { co_return text_response(200, "text/plain", request.actor.user); }

void fill(Router& router) {
  RouteOptions options;
  router.add(Method::kGet, "/things", who, options);
  router.add(Method::kPost, "/things", who, options);
  options.access = Access::kReadOnly;
  router.add(Method::kPost, "/search", who, options);
  options.access = Access::kAdmin;
  router.add(Method::kGet, "/keys", who, options);
}

Task<Result<Actor>> by_key(const HttpRequest& request) {
  const std::string key(request.headers.get("Authorization"));
  if (key == "Bearer reader") co_return Actor{"org", "reader", "key", Role::kReadOnly};
  if (key == "Bearer member") co_return Actor{"org", "member", "key", Role::kMember};
  if (key == "Bearer admin") co_return Actor{"org", "admin", "key", Role::kAdmin};
  if (key == "Bearer broken") co_return fail(Code::kUnavailable, "the store is away");
  co_return fail(Code::kDenied, "no such key");
}

std::string bearer(const std::string& key) { return "Authorization: Bearer " + key + "\r\n"; }

TEST(HttpAuthTest, RolesLimitWhatAKeyMayDo) {
  TestServer server(fill, {}, by_key);
  const auto status = [&](const char* method, const char* path, const char* key) {
    return status_in(fetch(server, method, path, bearer(key)));
  };
  EXPECT_EQ(status("GET", "/things", "reader"), 200U);
  EXPECT_EQ(status("HEAD", "/things", "reader"), 200U);
  EXPECT_EQ(status("POST", "/things", "reader"), 403U);
  EXPECT_EQ(status("POST", "/search", "reader"), 200U);
  EXPECT_EQ(status("POST", "/things", "member"), 200U);
  EXPECT_EQ(status("GET", "/keys", "member"), 403U);
  EXPECT_EQ(status("GET", "/keys", "admin"), 200U);
  EXPECT_TRUE(fetch(server, "GET", "/things", bearer("member")).ends_with("member"));
}

TEST(HttpAuthTest, WithoutAKeyThereIsOnly401) {
  TestServer server(fill, {}, by_key);
  const std::string answer = fetch(server, "GET", "/things");
  EXPECT_EQ(status_in(answer), 401U);
  EXPECT_NE(answer.find("WWW-Authenticate: Bearer\r\n"), std::string::npos);
  EXPECT_TRUE(answer.ends_with(R"({"detail":"Unauthorized"})"));
  EXPECT_EQ(status_in(fetch(server, "GET", "/things", bearer("broken"))), 503U);
  EXPECT_EQ(status_in(fetch(server, "GET", "/health")), 200U);
}

TEST(HttpAuthTest, WithoutAuthenticationOnlyPublicRoutesAreServed) {
  TestServer server(fill);
  EXPECT_EQ(status_in(fetch(server, "GET", "/things", bearer("admin"))), 401U);
  EXPECT_EQ(status_in(fetch(server, "GET", "/health")), 200U);
}

TEST(HttpAuthTest, AStrangersBodyIsNotAwaited) {
  TestServer server(fill, {}, by_key);
  TestClient client(server.port());
  EXPECT_EQ(status_in(client.send(request_text("POST", "/things", "Content-Length: 1000000\r\n")).read_response()),
            401U);
}

TEST(HttpAuthTest, OnANetworkOnlyHealthIsPublic) {
  ServerOptions options;
  options.address.host = "0.0.0.0";
  options.allow_plain = AllowPlain{};
  TestServer server(fill, options, by_key);
  for (const char* path : {"/metrics", "/openapi.json"}) {
    EXPECT_EQ(status_in(fetch(server, "GET", path)), 401U) << path;
    EXPECT_EQ(status_in(fetch(server, "GET", path, bearer("reader"))), 200U) << path;
  }
  EXPECT_EQ(status_in(fetch(server, "GET", "/health")), 200U);
  EXPECT_EQ(status_in(fetch(server, "GET", "/docs")), 200U);
}

TEST(HttpAuthTest, ManyWrongKeysAreHeldOffAndGoodOnesNot) {
  TestServer server(fill, {}, by_key);
  EXPECT_EQ(status_in(fetch(server, "GET", "/things", bearer("member"))), 200U);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(status_in(fetch(server, "GET", "/things", bearer("wrong"))), 401U);
  const std::string held_off = fetch(server, "GET", "/things", bearer("wrong"));
  EXPECT_EQ(status_in(held_off), 429U);
  EXPECT_NE(held_off.find("Retry-After: 10"), std::string::npos);
  EXPECT_EQ(status_in(fetch(server, "GET", "/things", bearer("member"))), 200U);
  EXPECT_EQ(status_in(fetch(server, "GET", "/health")), 200U);
}

}  // namespace
}  // namespace bj
