#include "server/http_server.h"

#include <fmt/format.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <set>

namespace bj {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;
namespace json = boost::json;
using Tcp = asio::ip::tcp;
using Request = http::request<http::string_body>;
using Response = http::response<http::string_body>;

constexpr size_t kMostConnections = 256;
constexpr uint32_t kLongestHeader = 16 * 1024;
constexpr uint64_t kLongestBody = 64 * 1024;
constexpr auto kRequestTime = std::chrono::seconds(10);  // for a whole request, and for keeping an idle connection
constexpr auto kRestAfterFailedAccept = std::chrono::milliseconds(100);

Response text_answer(const Request& request, http::status status, const char* type, std::string body) {
  Response answer(status, request.version());
  answer.set(http::field::server, "belljar");
  answer.set(http::field::content_type, type);
  answer.set("X-Content-Type-Options", "nosniff");
  answer.set(http::field::cache_control, "no-store");
  answer.keep_alive(request.keep_alive());
  answer.body() = std::move(body);
  answer.prepare_payload();
  if (request.method() == http::verb::head) answer.body().clear();
  return answer;
}

Response error_answer(const Request& request, http::status status, const std::string& sentence) {
  return text_answer(request, status, "application/json", json::serialize(json::object{{"error", sentence}}) + "\n");
}

Response answer_to(const Request& request, const HealthFacts& facts) {
  if (request.count(http::field::host) != 1 || !names_this_machine(std::string(request[http::field::host]))) {
    return error_answer(request, http::status::forbidden,
                        "the Host header must name this machine: localhost, 127.0.0.1 or [::1]");
  }
  const std::string target(request.target());
  if (target != "/" && target != "/health")
    return error_answer(request, http::status::not_found, "there is nothing here; try /health");
  if (request.method() != http::verb::get && request.method() != http::verb::head) {
    Response answer = error_answer(request, http::status::method_not_allowed, "only GET and HEAD are answered here");
    answer.set(http::field::allow, "GET, HEAD");
    return answer;
  }
  if (target == "/") {
    return text_answer(request, http::status::ok, "text/plain; charset=utf-8",
                       "Belljar " + facts.version + " is running; its health is at /health\n");
  }
  const json::object health{{"status", "ok"}, {"version", facts.version}, {"seal_full", facts.seal_full}};
  return text_answer(request, http::status::ok, "application/json", json::serialize(health) + "\n");
}

// Why a request could not be read, as the answer to it; status 0: nothing to answer.
unsigned status_of(const boost::system::error_code& error) {
  if (error == http::error::header_limit) return 431;
  if (error == http::error::body_limit) return 413;
  if (error == http::error::end_of_stream || error == http::error::partial_message ||
      error.category() != http::make_error_code(http::error::bad_method).category())
    return 0;
  return 400;
}

}  // namespace

struct HttpServer::Impl {
  explicit Impl(const asio::any_io_executor& its) : executor(its), acceptor(its), changed(its) {}

  asio::any_io_executor executor;
  Tcp::acceptor acceptor;
  HealthFacts facts;
  std::set<beast::tcp_stream*> streams;
  asio::steady_timer changed;  // cancelled when a connection ends: a condition variable
  bool stopping = false;

  Result<void> open(const ServerAddress& address);
  Task<void> talk(std::shared_ptr<beast::tcp_stream> stream);
  void begin(Tcp::socket socket);
};

Result<void> HttpServer::Impl::open(const ServerAddress& address) {
  const Tcp::endpoint endpoint(asio::ip::make_address(address.host), address.port);
  boost::system::error_code error;
  (void)acceptor.open(endpoint.protocol(), error);
  if (!error) (void)acceptor.set_option(Tcp::acceptor::reuse_address(true), error);
  if (!error) (void)acceptor.bind(endpoint, error);
  if (!error) (void)acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error == boost::system::errc::address_in_use) {
    return fail(Code::kInvalid,
                fmt::format("port {} is in use: stop what listens there, or choose another with --listen {}:PORT",
                            address.port, address.host));
  }
  if (error)
    return fail(Code::kInvalid, fmt::format("can't listen on {}:{}: {}", address.host, address.port, error.message()));
  return {};
}

void HttpServer::Impl::begin(Tcp::socket socket) {
  auto stream = std::make_shared<beast::tcp_stream>(std::move(socket));
  streams.insert(stream.get());
  asio::co_spawn(executor, talk(stream), [this, stream](const std::exception_ptr&) {
    streams.erase(stream.get());
    changed.cancel();
  });
}

// One connection: requests in turn until it ends, errs or is too slow.
Task<void> HttpServer::Impl::talk(std::shared_ptr<beast::tcp_stream> stream) {
  beast::flat_buffer buffer(kLongestHeader + kLongestBody);
  bool going = true;
  while (going && !stopping) {
    http::request_parser<http::string_body> parser;
    parser.header_limit(kLongestHeader);
    parser.body_limit(kLongestBody);
    stream->expires_after(kRequestTime);
    const auto [failed, ignored_size] = co_await http::async_read(*stream, buffer, parser, kNoThrow);
    const unsigned bad = failed ? status_of(failed) : 0;
    if (failed && bad == 0) break;
    Response answer =
        failed ? error_answer(parser.get(), http::status(bad), "the request can't be read: " + failed.message())
               : answer_to(parser.get(), facts);
    if (failed) answer.keep_alive(false);
    going = answer.keep_alive();
    stream->expires_after(kRequestTime);
    const auto [unsent, sent_size] = co_await http::async_write(*stream, answer, kNoThrow);
    if (unsent) break;
  }
  boost::system::error_code ignored;
  (void)stream->socket().shutdown(Tcp::socket::shutdown_both, ignored);
  stream->close();
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;

Result<std::unique_ptr<HttpServer>> HttpServer::listen(const asio::any_io_executor& executor,
                                                       const ServerAddress& address) {
  auto impl = std::make_unique<Impl>(executor);
  BJ_CHECK(impl->open(address));
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

Task<void> HttpServer::serve(HealthFacts facts) {
  impl_->facts = std::move(facts);
  while (!impl_->stopping) {
    auto [error, socket] = co_await impl_->acceptor.async_accept(kNoThrow);
    if (error == asio::error::operation_aborted) co_return;
    if (error) {  // out of descriptors, most likely: it must not become a busy loop
      impl_->changed.expires_after(kRestAfterFailedAccept);
      co_await impl_->changed.async_wait(kNoThrow);
    } else if (impl_->streams.size() < kMostConnections) {
      impl_->begin(std::move(socket));
    }
  }
}

Task<void> HttpServer::stop() {
  impl_->stopping = true;
  impl_->acceptor.close();
  for (beast::tcp_stream* stream : impl_->streams) stream->cancel();
  while (!impl_->streams.empty()) {
    impl_->changed.expires_at(Clock::time_point::max());
    co_await impl_->changed.async_wait(kNoThrow);
  }
}

uint16_t HttpServer::port() const { return impl_->acceptor.local_endpoint().port(); }

Result<ServerAddress> parse_address(const std::string& text) {
  const size_t colon = text.rfind(':');
  ServerAddress address;
  std::string host = text.substr(0, colon);
  const std::string port = colon == std::string::npos ? "" : text.substr(colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (port.empty() || error != std::errc() || end != port.data() + port.size()) {
    return fail(Code::kInvalid, "\"" + text + "\" is not ADDRESS:PORT, such as 127.0.0.1:8090");
  }
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  if (host == "localhost") host = "127.0.0.1";
  boost::system::error_code bad;
  const auto ip = asio::ip::make_address(host, bad);
  if (bad) return fail(Code::kInvalid, "\"" + host + "\" is not an IP address: use 127.0.0.1:" + port);
  if (!ip.is_loopback()) {
    return fail(Code::kInvalid,
                "Belljar listens on loopback only as long as it has no authentication: use 127.0.0.1:" + port);
  }
  address.host = ip.to_string();
  return address;
}

bool names_this_machine(const std::string& host) {
  for (const std::string name : {"localhost", "127.0.0.1", "[::1]"}) {
    if (host == name) return true;
    if (!host.starts_with(name + ":")) continue;
    const std::string port = host.substr(name.size() + 1);
    return !port.empty() && port.size() <= 5 && port.find_first_not_of("0123456789") == std::string::npos;
  }
  return false;
}

}  // namespace bj
