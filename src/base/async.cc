#include "base/async.h"

namespace bj {

void spawn(const asio::any_io_executor& executor, std::function<Task<void>()> body) {
  asio::co_spawn(executor, std::move(body), asio::detached);
}

Task<bool> readable(asio::posix::stream_descriptor& descriptor) {
  const auto [error] = co_await descriptor.async_wait(asio::posix::stream_descriptor::wait_read, kNoThrow);
  co_return !error;
}

Task<bool> writable(asio::posix::stream_descriptor& descriptor) {
  const auto [error] = co_await descriptor.async_wait(asio::posix::stream_descriptor::wait_write, kNoThrow);
  co_return !error;
}

Task<bool> expired(asio::steady_timer& timer) {
  const auto [error] = co_await timer.async_wait(kNoThrow);
  co_return !error;
}

Task<void> run_on(asio::thread_pool& pool, std::function<void()> work) {
  const auto run = [](std::function<void()> inner) -> Task<void> {
    inner();
    co_return;
  };
  co_await asio::co_spawn(pool, run(std::move(work)), asio::use_awaitable);
}

}  // namespace bj
