// What goes on after a header was sent: event streams, WebSockets, TLS; and stopping in the midst of it.
#include <openssl/ssl.h>

#include <cstdlib>
#include <filesystem>

#include "server/test_server.h"

namespace bj {
namespace {

RouteOptions public_route(RouteKind kind = RouteKind::kHttp) {
  RouteOptions options;
  options.access = Access::kPublic;
  options.kind = kind;
  return options;
}

// Where a handler on the server's thread and a test meet.
struct Meeting {
  std::promise<void> reached;
  std::promise<std::string> ended;
};

Task<HttpResponse> three_events(HttpRequest&) {
  co_return event_stream([](EventStream& events) -> Task<void> {
    for (const char* data : {"1", "2\n2", "3"}) co_await events.send("count", data);
  });
}

TEST(EventStreamServerTest, EventsArriveAsChunksAndTheConnectionStays) {
  TestServer server([](Router& router) { router.add(Method::kGet, "/events", three_events, public_route()); });
  TestClient client(server.port());
  const std::string answer = client.send(request_text("GET", "/events")).read_until("0\r\n\r\n");
  EXPECT_NE(answer.find("Content-Type: text/event-stream\r\n"), std::string::npos) << answer;
  EXPECT_NE(answer.find("Transfer-Encoding: chunked\r\n"), std::string::npos);
  EXPECT_NE(answer.find("event: count\ndata: 2\ndata: 2\n\n\r\n"), std::string::npos);
  EXPECT_EQ(status_in(client.send(request_text("GET", "/health")).read_response()), 200U);
  EXPECT_EQ(client.send(request_text("HEAD", "/events")).read_until("\r\n\r\n").find("chunked"), std::string::npos);
}

TEST(EventStreamServerTest, TheLastPieceLeavesWithTheEnd) {
  TestServer server([](Router& router) {
    const auto last_word = [](HttpRequest&) -> Task<HttpResponse> {
      HttpResponse response = text_response(200, "text/plain", "");
      response.stream = [](BodyWriter& body) -> Task<void> {
        co_await body.write("first");
        body.end_with("last");
      };
      co_return response;
    };
    router.add(Method::kGet, "/words", last_word, public_route());
  });
  TestClient client(server.port());
  const std::string answer = client.send(request_text("GET", "/words")).read_until("0\r\n\r\n");
  EXPECT_TRUE(answer.ends_with("5\r\nfirst\r\n4\r\nlast\r\n0\r\n\r\n")) << answer;
  TestClient old(server.port());
  EXPECT_TRUE(old.send("GET /words HTTP/1.0\r\nHost: localhost\r\n\r\n").read_all().ends_with("\r\n\r\nfirstlast"));
}

TEST(EventStreamServerTest, AHeaderThatWaitsStandsBeforeWhateverComesFirst) {
  TestServer server([](Router& router) {
    const auto piece = [](HttpRequest& request) -> Task<HttpResponse> {
      HttpResponse response = text_response(200, "text/plain", "");
      response.header_waits = true;
      response.stream = [text = std::string(request.path.substr(1))](BodyWriter& body) -> Task<void> {
        if (text == "word") co_await body.write(text);
      };
      co_return response;
    };
    router.add(Method::kGet, "/word", piece, public_route());
    router.add(Method::kGet, "/nothing", piece, public_route());
  });
  TestClient client(server.port());
  const std::string word = client.send(request_text("GET", "/word")).read_until("0\r\n\r\n");
  EXPECT_TRUE(word.starts_with("HTTP/1.1 200 ") && word.ends_with("\r\n\r\n4\r\nword\r\n0\r\n\r\n")) << word;
  const std::string nothing = client.send(request_text("GET", "/nothing")).read_until("\r\n0\r\n\r\n");
  EXPECT_TRUE(nothing.starts_with("HTTP/1.1 200 ")) << nothing;
  TestClient old(server.port());
  const std::string empty = old.send("GET /nothing HTTP/1.0\r\nHost: localhost\r\n\r\n").read_all();
  EXPECT_TRUE(empty.starts_with("HTTP/1.") && empty.ends_with("\r\n\r\n")) << empty;
}

TEST(EventStreamServerTest, AnOldClientGetsTheStreamUntilTheEnd) {
  TestServer server([](Router& router) { router.add(Method::kGet, "/events", three_events, public_route()); });
  TestClient client(server.port());
  const std::string answer = client.send("GET /events HTTP/1.0\r\nHost: localhost\r\n\r\n").read_all();
  EXPECT_TRUE(answer.ends_with("event: count\ndata: 3\n\n")) << answer;
  EXPECT_EQ(answer.find("chunked"), std::string::npos);
}

TEST(EventStreamServerTest, TheProducerLearnsThatTheClientLeft) {
  auto meeting = std::make_shared<Meeting>();
  TestServer server([meeting](Router& router) {
    router.add(
        Method::kGet, "/events",
        [meeting](HttpRequest&) -> Task<HttpResponse> {
          co_return event_stream([meeting](EventStream& events) -> Task<void> {
            while (co_await events.send("", std::string(10'000, 'x'))) {
            }
            meeting->ended.set_value(events.gone() ? "gone" : "there");
          });
        },
        public_route());
  });
  TestClient client(server.port());
  client.send(request_text("GET", "/events")).read_until("data: ");
  client.close();
  EXPECT_EQ(meeting->ended.get_future().get(), "gone");
}

// A stream that says nothing until the server stops it.
Task<void> silence(EventStream& events) {
  asio::steady_timer timer(co_await asio::this_coro::executor);
  timer.expires_at(Clock::time_point::max());
  co_await events.send("", "begin");
  co_await timer.async_wait(kNoThrow);
}

TEST(EventStreamServerTest, ASilentStreamHasHeartbeatsAndEndsAtTheStopsDeadline) {
  ServerOptions options;
  options.limits.heartbeat = std::chrono::milliseconds(10);
  options.limits.stop_time = std::chrono::milliseconds(50);
  TestServer server(
      [](Router& router) {
        router.add(
            Method::kGet, "/silence", [](HttpRequest&) -> Task<HttpResponse> { co_return event_stream(silence); },
            public_route());
      },
      options);
  TestClient client(server.port());
  client.send(request_text("GET", "/silence")).read_until("data: begin");
  EXPECT_NE(client.read_until(": keep-alive\n\n").find(": keep-alive"), std::string::npos);
  EXPECT_NE(client.read_until(": keep-alive\n\n").find(": keep-alive"), std::string::npos);
  server.begin_stop();
  EXPECT_FALSE(client.read_all().ends_with("0\r\n\r\n"));
}

TEST(EventStreamServerTest, AStreamThatThrowsIsCutOff) {
  TestServer server([](Router& router) {
    router.add(
        Method::kGet, "/throw",
        [](HttpRequest&) -> Task<HttpResponse> {
          co_return event_stream([](EventStream& events) -> Task<void> {
            co_await events.send("", "x");
            throw std::runtime_error("a secret detail");
          });
        },
        public_route());
  });
  const std::string answer = TestClient(server.port()).send(request_text("GET", "/throw")).read_all();
  EXPECT_TRUE(answer.ends_with("data: x\n\n\r\n")) << answer;
}

TEST(StopTest, ARequestInFlightFinishesAndIdleConnectionsCloseAtOnce) {
  auto meeting = std::make_shared<Meeting>();
  auto release = std::make_shared<std::unique_ptr<asio::steady_timer>>();
  TestServer server([=](Router& router) {
    router.add(
        Method::kGet, "/slow",
        [=](HttpRequest&) -> Task<HttpResponse> {
          *release = std::make_unique<asio::steady_timer>(co_await asio::this_coro::executor);
          (*release)->expires_at(Clock::time_point::max());
          meeting->reached.set_value();
          co_await (*release)->async_wait(kNoThrow);
          release->reset();  // it must not outlive the server's io_context
          co_return text_response(200, "text/plain", "finished");
        },
        public_route());
  });
  TestClient idle(server.port()), silent(server.port()), busy(server.port());
  EXPECT_EQ(status_in(idle.send(request_text("GET", "/health")).read_response()), 200U);
  busy.send(request_text("GET", "/slow") + request_text("GET", "/health"));
  meeting->reached.get_future().wait();
  server.begin_stop();
  EXPECT_EQ(idle.read_all(), "");
  EXPECT_EQ(silent.read_all(), "");
  asio::post(server.context(), [release] { (*release)->cancel(); });
  const std::string answer = busy.read_all();
  EXPECT_TRUE(answer.ends_with("finished")) << answer;
  EXPECT_NE(answer.find("Connection: close"), std::string::npos);
  server.wait_for_stop();
}

std::string upgrade(const std::string& headers = "") {
  return request_text("GET", "/socket",
                      "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" +
                          headers);
}

// A client's frame: masked, with zeros for the sake of the reader.
std::string frame(unsigned char opcode, const std::string& payload) {
  std::string text(1, static_cast<char>(0x80 | opcode));
  if (payload.size() < 126) {
    text += static_cast<char>(0x80 | payload.size());
  } else {
    text += static_cast<char>(0x80 | 126);
    text += static_cast<char>(payload.size() >> 8);
    text += static_cast<char>(payload.size() & 0xff);
  }
  return text + std::string(4, '\0') + payload;
}

Task<HttpResponse> echo_socket(HttpRequest&) {
  co_return web_socket([](WebSocket& socket) -> Task<void> {
    for (;;) {
      Result<WebSocketMessage> message = co_await socket.read();
      if (!message || !co_await socket.write(std::move(*message))) co_return;
    }
  });
}

class WebSocketTest : public testing::Test {
 protected:
  static ServerOptions options() {
    ServerOptions made;
    made.limits.web_socket_message_bytes = 1000;
    return made;
  }
  TestServer server{
      [](Router& router) { router.add(Method::kGet, "/socket", echo_socket, public_route(RouteKind::kWebSocket)); },
      options()};
  TestClient client{server.port()};

  void open() {
    const std::string answer = client.send(upgrade()).read_until("\r\n\r\n");
    EXPECT_EQ(status_in(answer), 101U) << answer;
    EXPECT_NE(answer.find("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), std::string::npos) << answer;
  }
};

TEST_F(WebSocketTest, MessagesComeBackAsTheyWere) {
  open();
  client.send(frame(1, "hello") + frame(2, std::string("\0\xff", 2)) + frame(9, "are you there"));
  EXPECT_EQ(client.read_until("hello"), "\x81\x05hello");
  EXPECT_EQ(client.read_until("\xff"), std::string("\x82\x02\0\xff", 4));
  EXPECT_EQ(client.read_until("there"),
            "\x8a\x0d"
            "are you there");
  client.send(frame(8, "\x03\xe8"));
  EXPECT_EQ(client.read_all(), "\x88\x02\x03\xe8");
}

TEST_F(WebSocketTest, TooLongAMessageClosesIt) {
  open();
  EXPECT_EQ(client.send(frame(1, std::string(1001, 'x'))).read_all().substr(2, 2), "\x03\xf1");  // 1009
}

TEST_F(WebSocketTest, TextThatIsNotUtf8ClosesIt) {
  open();
  EXPECT_EQ(client.send(frame(1, "\xff")).read_all().substr(2, 2), "\x03\xef");  // 1007
}

TEST_F(WebSocketTest, OtherSitesAndPlainRequestsAreRefused) {
  EXPECT_EQ(status_in(TestClient(server.port()).send(upgrade("Origin: http://evil.org\r\n")).read_response()), 403U);
  const std::string plain = fetch(server, "GET", "/socket");
  EXPECT_EQ(status_in(plain), 426U);
  EXPECT_NE(plain.find("Upgrade: websocket\r\n"), std::string::npos);
}

TEST_F(WebSocketTest, AStoppingServerSaysThatItGoesAway) {
  open();
  server.begin_stop();
  const std::string close = client.read_until("stops");
  EXPECT_EQ(close.substr(2, 2), "\x03\xe9");  // 1001
  client.send(frame(8, "\x03\xe9"));
  EXPECT_EQ(client.read_all(), "");
  server.wait_for_stop();
}

TEST_F(WebSocketTest, AClientThatVanishesEndsTheHandler) {
  open();
  client.close();
}

class TlsTest : public testing::Test {
 protected:
  TlsTest() {
    directory = std::filesystem::temp_directory_path() / ("belljar-tls-" + std::to_string(::getpid()));
    std::filesystem::create_directory(directory);
    files = {directory / "certificate.pem", directory / "key.pem"};
    const std::string command =
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost -keyout " +
        files.key + " -out " + files.certificate + " 2>/dev/null";
    made = std::system(command.c_str()) == 0;
  }
  ~TlsTest() override { std::filesystem::remove_all(directory); }

  // What comes back over TLS of at most `version`, empty if the handshake fails.
  static std::string exchange(uint16_t port, int version, const std::string& request) {
    TestClient client(port);
    const std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
    SSL_CTX_set_min_proto_version(context.get(), TLS1_VERSION);
    SSL_CTX_set_max_proto_version(context.get(), version);
    const std::unique_ptr<SSL, void (*)(SSL*)> ssl(SSL_new(context.get()), SSL_free);
    SSL_set_fd(ssl.get(), client.fd());
    if (SSL_connect(ssl.get()) != 1) return "";
    SSL_write(ssl.get(), request.data(), static_cast<int>(request.size()));
    std::string answer;
    char bytes[4096];
    for (int size = 0; (size = SSL_read(ssl.get(), bytes, sizeof bytes)) > 0;)
      answer.append(bytes, static_cast<size_t>(size));
    if (SSL_get_error(ssl.get(), 0) == SSL_ERROR_ZERO_RETURN) SSL_shutdown(ssl.get());
    return answer;
  }

  std::filesystem::path directory;
  TlsFiles files;
  bool made = false;
};

TEST_F(TlsTest, TheSameServerBehindACertificate) {
  ASSERT_TRUE(made) << "openssl could not make a certificate";
  ServerOptions options;
  options.tls = files;
  TestServer server([](Router& router) { router.add(Method::kGet, "/events", three_events, public_route()); }, options);
  const std::string close = "Connection: close\r\n";
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    EXPECT_EQ(status_in(exchange(server.port(), version, request_text("GET", "/health", close))), 200U);
    EXPECT_TRUE(exchange(server.port(), version, request_text("GET", "/events", close)).ends_with("0\r\n\r\n"));
  }
  EXPECT_EQ(exchange(server.port(), TLS1_1_VERSION, request_text("GET", "/health", close)), "");
  EXPECT_EQ(status_in(TestClient(server.port()).send(request_text("GET", "/health")).read_all()), 0U);
}

TEST_F(TlsTest, FilesThatCannotBeUsedAreNamed) {
  ASSERT_TRUE(made);
  asio::io_context context(1);
  ServerOptions options;
  options.tls = TlsFiles{files.certificate, "/no/such/key.pem"};
  const auto missing = HttpServer::listen(context.get_executor(), options);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().what.find("/no/such/key.pem"), std::string::npos);
  options.tls = TlsFiles{files.key, files.key};
  EXPECT_FALSE(HttpServer::listen(context.get_executor(), options));
}

}  // namespace
}  // namespace bj
