// What one key may take of the server: over its limits there is 429, and others don't notice. And who reads slowly is
// cut off, while others are served.
#include <semaphore>

#include "server/test_server.h"

namespace bj {
namespace {

// Every key is somebody's; "slow" has limits of its own.
Task<Result<Actor>> by_key(const HttpRequest& request) {
  const std::string key(request.headers.get("Authorization"));
  if (key.empty()) co_return fail(Code::kDenied, "no key");
  Actor actor{"org", "user", key, Role::kMember};
  if (key == "slow") actor.limits.requests_per_second = 0.001;
  co_return actor;
}

std::string as(const std::string& key) { return "Authorization: " + key + "\r\n"; }

Task<HttpResponse> fine(HttpRequest& request) { co_return text_response(200, "text/plain", request.body); }

// Runs that go on until they are told to end.
class Runs {
 public:
  Handler handler() {
    return [this](HttpRequest&) -> Task<HttpResponse> {
      co_await held();
      co_return text_response(200, "text/plain", "ran");
    };
  }
  Handler stream() {
    return [this](HttpRequest&) -> Task<HttpResponse> {
      co_return event_stream([this](EventStream& events) -> Task<void> {
        co_await events.send("", "begin");
        co_await held();
      });
    };
  }
  void wait_for_one() { began_.acquire(); }
  void end(TestServer& server) {
    asio::post(server.context(), [this] { timer_->cancel(); });
  }

 private:
  Task<void> held() {
    timer_ = std::make_unique<asio::steady_timer>(co_await asio::this_coro::executor, Clock::time_point::max());
    began_.release();
    (void)co_await expired(*timer_);
    timer_.reset();  // while there is the context that it is of
  }

  std::counting_semaphore<> began_{0};
  std::unique_ptr<asio::steady_timer> timer_;
};

RouteOptions run_route() {
  RouteOptions options;
  options.work = Work::kRun;
  return options;
}

TEST(HttpLimitsTest, AKeyOverItsRateIsTurnedAwayAndOthersAreNot) {
  ServerOptions options;
  options.rates.requests_per_second = 1000;
  options.rates.burst = 2000;
  TestServer server([](Router& router) { router.add(Method::kGet, "/x", fine); }, options, by_key);
  EXPECT_EQ(status_in(fetch(server, "GET", "/x", as("slow"))), 200U);  // its burst: one
  const std::string refused = fetch(server, "GET", "/x", as("slow"));
  EXPECT_EQ(status_in(refused), 429U);
  EXPECT_NE(refused.find("\r\nRetry-After: "), std::string::npos) << refused;
  EXPECT_NE(refused.find(R"({"detail":"This key may make 0.001 requests a second)"), std::string::npos) << refused;
  for (int i = 0; i < 20; ++i) EXPECT_EQ(status_in(fetch(server, "GET", "/x", as("other"))), 200U);
  EXPECT_EQ(status_in(fetch(server, "GET", "/health")), 200U);
  EXPECT_NE(fetch(server, "GET", "/metrics").find("belljar_http_limited_total{limit=\"requests\"} 1"),
            std::string::npos);
}

TEST(HttpLimitsTest, AWebSocketIsARequestToo) {
  TestServer server(
      [](Router& router) {
        RouteOptions options;
        options.kind = RouteKind::kWebSocket;
        router.add(
            Method::kGet, "/ws",
            [](HttpRequest&) -> Task<HttpResponse> {
              co_return web_socket([](WebSocket&) -> Task<void> { co_return; });
            },
            options);
      },
      {}, by_key);
  const std::string upgrade =
      "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
      "dGhlIHNhbXBsZSBub25jZQ==\r\n";
  const auto open = [&] {
    TestClient client(server.port());
    return status_in(client.send(request_text("GET", "/ws", as("slow") + upgrade)).read_until("\r\n\r\n"));
  };
  EXPECT_EQ(open(), 101U);
  EXPECT_EQ(open(), 429U);
}

TEST(HttpLimitsTest, RunsAtATimeAreCountedUntilTheirAnswerIsSent) {
  Runs runs;
  ServerOptions options;
  options.rates.runs_at_once = 1;
  TestServer server(
      [&runs](Router& router) {
        router.add(Method::kPost, "/run", runs.handler(), run_route());
        router.add(Method::kGet, "/x", fine);
      },
      options, by_key);
  TestClient first(server.port());
  first.send(request_text("POST", "/run", as("a") + "Content-Length: 0\r\n"));
  runs.wait_for_one();
  const std::string refused = fetch(server, "POST", "/run", as("a") + "Content-Length: 0\r\n");
  EXPECT_EQ(status_in(refused), 429U);
  EXPECT_NE(refused.find("1 runs under way"), std::string::npos) << refused;
  EXPECT_EQ(status_in(fetch(server, "GET", "/x", as("a"))), 200U);
  runs.end(server);
  EXPECT_EQ(status_in(first.read_response()), 200U);
  first.send(request_text("POST", "/run", as("a") + "Content-Length: 0\r\n"));
  runs.wait_for_one();
  runs.end(server);
  EXPECT_EQ(status_in(first.read_response()), 200U);
}

TEST(HttpLimitsTest, AStreamedRunCountsUntilItsStreamEnds) {
  Runs runs;
  ServerOptions options;
  options.rates.runs_at_once = 1;
  TestServer server([&runs](Router& router) { router.add(Method::kPost, "/run", runs.stream(), run_route()); }, options,
                    by_key);
  TestClient first(server.port());
  first.send(request_text("POST", "/run", as("a") + "Content-Length: 0\r\n")).read_until("data: begin");
  runs.wait_for_one();
  EXPECT_EQ(status_in(fetch(server, "POST", "/run", as("a") + "Content-Length: 0\r\n")), 429U);
  runs.end(server);
  first.read_until("0\r\n\r\n");
  first.send(request_text("POST", "/run", as("a") + "Content-Length: 0\r\n")).read_until("data: begin");
  runs.wait_for_one();
  runs.end(server);
}

TEST(HttpLimitsTest, BodiesOfAKeyAreCountedTogether) {
  ServerOptions options;
  options.rates.body_bytes = 1000;
  TestServer server([](Router& router) { router.add(Method::kPost, "/x", fine); }, options, by_key);
  const std::string body(100, 'b');
  TestClient first(server.port());
  // The server asks for the body, so it has taken the first into account.
  first.send(request_text("POST", "/x", as("a") + "Content-Length: 990\r\nExpect: 100-continue\r\n"))
      .read_until("100 Continue\r\n\r\n");
  const std::string refused = fetch(server, "POST", "/x", as("a") + with_length(body), body);
  EXPECT_EQ(status_in(refused), 429U);
  EXPECT_NE(refused.find("1000 bytes"), std::string::npos) << refused;
  const std::string chunked = "Transfer-Encoding: chunked\r\n";
  EXPECT_EQ(status_in(fetch(server, "POST", "/x", as("a") + chunked, "64\r\n" + body + "\r\n0\r\n\r\n")), 429U);
  EXPECT_EQ(status_in(fetch(server, "POST", "/x", as("b") + with_length(body), body)), 200U);
  first.send(std::string(990, 'a'));
  EXPECT_EQ(status_in(first.read_response()), 200U);
  EXPECT_EQ(status_in(fetch(server, "POST", "/x", as("a") + with_length(body), body)), 200U);
}

TEST(HttpLimitsTest, ASlowReaderOfALargeStreamIsCutAtADeadlineWhileOthersAreServed) {
  auto ended = std::make_shared<std::promise<std::string>>();
  auto began = std::make_shared<std::promise<void>>();
  ServerOptions options;
  options.limits.write_time = std::chrono::milliseconds(500);
  TestServer server(
      [=](Router& router) {
        router.add(Method::kGet, "/x", fine);
        router.add(Method::kGet, "/large", [=](HttpRequest&) -> Task<HttpResponse> {
          co_return event_stream([=](EventStream& events) -> Task<void> {
            began->set_value();
            while (co_await events.send("", std::string(1 << 20, 'x'))) {
            }
            ended->set_value(events.gone() ? "cut" : "sent");
          });
        });
      },
      options, by_key);
  TestClient slow(server.port());
  slow.send(request_text("GET", "/large", as("a")));  // and never reads
  began->get_future().get();
  for (int i = 0; i < 50; ++i) EXPECT_EQ(status_in(fetch(server, "GET", "/x", as("b"))), 200U);
  EXPECT_EQ(ended->get_future().get(), "cut");
}

}  // namespace
}  // namespace bj
