#include "bench/http_load.h"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <charconv>
#include <memory>
#include <string_view>

namespace bj {
namespace {

using Tcp = asio::ip::tcp;

constexpr std::string_view kEndOfHeader = "\r\n\r\n";
constexpr std::string_view kContentLength = "\r\nContent-Length: ";

// The length of the whole answer; 0 as long as its header is incomplete.
size_t answer_size(std::string_view text) {
  const size_t end = text.find(kEndOfHeader);
  const size_t field = text.find(kContentLength);
  if (end == std::string_view::npos) return 0;
  size_t length = 0;
  if (field < end) {
    const char* const number = text.data() + field + kContentLength.size();
    std::from_chars(number, text.data() + end, length);
  }
  return end + kEndOfHeader.size() + length;
}

class Client {
 public:
  explicit Client(const asio::any_io_executor& executor) : socket_(executor) {}

  Task<Result<void>> connect(uint16_t port) {
    const Tcp::endpoint server(asio::ip::address_v4::loopback(), port);
    const auto [error] = co_await socket_.async_connect(server, kNoThrow);
    if (error) co_return fail(Code::kUnavailable, "connect: " + error.message());
    socket_.set_option(Tcp::no_delay(true));
    co_return Result<void>();
  }

  Task<Result<double>> exchange(const HttpCall& call) {
    const Stopwatch watch;
    const auto [error, written] = co_await asio::async_write(socket_, asio::buffer(call.request), kNoThrow);
    if (error) co_return fail(Code::kUnavailable, "write: " + error.message());
    BJ_CO_TRY(const std::string answer, co_await read_answer());
    const double ms = watch.ms();
    if (answer.starts_with("HTTP/1.1 200 ") && answer.find(call.expected) != std::string::npos) co_return ms;
    co_return fail(Code::kInternal, "a request was answered by " + answer);
  }

 private:
  Task<Result<std::string>> read_answer() {
    std::string answer;
    size_t size = 0;
    while (size == 0 || answer.size() < size) {
      const auto [error, count] = co_await socket_.async_read_some(asio::buffer(buffer_), kNoThrow);
      if (error) co_return fail(Code::kUnavailable, "read: " + error.message());
      answer.append(buffer_.data(), count);
      if (size == 0) size = answer_size(answer);
    }
    co_return answer;
  }

  Tcp::socket socket_;
  std::array<char, 16 * 1024> buffer_;
};

Task<Result<std::vector<Sample>>> measure_paced(asio::any_io_executor executor, std::vector<HttpCall> calls,
                                                int count) {
  std::vector<std::unique_ptr<Client>> clients;
  for (const HttpCall& call : calls) {
    clients.push_back(std::make_unique<Client>(executor));
    BJ_CO_CHECK(co_await clients.back()->connect(call.port));
  }
  std::vector<Sample> samples(calls.size());
  for (int i = 0; i < count; ++i) {
    for (size_t turn = 0; turn < calls.size(); ++turn) {
      const size_t at = i % 2 == 0 ? turn : calls.size() - 1 - turn;  // what follows what must not matter
      co_await pause(executor, kPace);
      BJ_CO_TRY(const double ms, co_await clients[at]->exchange(calls[at]));
      samples[at].add(ms);
    }
  }
  co_return samples;
}

Task<Result<double>> measure_sustained(asio::any_io_executor executor, HttpCall call, int count, double seconds) {
  std::vector<std::unique_ptr<Client>> idle;
  for (int i = 0; i < count; ++i) {
    idle.push_back(std::make_unique<Client>(executor));
    BJ_CO_CHECK(co_await idle.back()->connect(call.port));
  }
  const BenchWork work = [&idle, &call]() -> Task<Result<void>> {
    std::unique_ptr<Client> client = std::move(idle.back());
    idle.pop_back();
    BJ_CO_CHECK(co_await client->exchange(call));
    idle.push_back(std::move(client));
    co_return Result<void>();
  };
  co_return co_await rate(executor, count, seconds, work);
}

}  // namespace

Task<Result<std::vector<Sample>>> HttpLoad::paced(std::vector<HttpCall> calls, int count) {
  co_return co_await asio::co_spawn(thread_, measure_paced(executor(), std::move(calls), count), asio::use_awaitable);
}

Task<Result<double>> HttpLoad::sustained(HttpCall call, int clients, double seconds) {
  co_return co_await asio::co_spawn(thread_, measure_sustained(executor(), std::move(call), clients, seconds),
                                    asio::use_awaitable);
}

Task<Result<double>> HttpLoad::sustained(BenchWork work, int clients, double seconds) {
  co_return co_await asio::co_spawn(thread_, rate(executor(), clients, seconds, std::move(work)), asio::use_awaitable);
}

}  // namespace bj
