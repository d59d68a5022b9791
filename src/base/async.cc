#include "base/async.h"

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <exception>

namespace bj {

// What it throws comes out of the context's run(): nobody else could notice.
void spawn(const asio::any_io_executor& executor, std::function<Task<void>()> body) {
  asio::co_spawn(executor, std::move(body), [](const std::exception_ptr& thrown) {
    if (thrown) std::rethrow_exception(thrown);
  });
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

// From there straight back: a coroutine on the pool would end with one more change of thread, from one of the pool's to
// another.
Task<void> run_on(asio::thread_pool& pool, std::function<void()> work) {
  const auto initiate = [&pool](auto handler, std::function<void()> inner) {
    auto home = asio::make_work_guard(asio::get_associated_executor(handler));
    asio::post(pool, [handler = std::move(handler), inner = std::move(inner), home = std::move(home)]() mutable {
      std::exception_ptr thrown;
      try {
        inner();
      } catch (...) {
        thrown = std::current_exception();
      }
      inner = nullptr;  // what it held ends here, before anybody goes on
      asio::post(home.get_executor(),
                 [handler = std::move(handler), thrown]() mutable { std::move(handler)(std::move(thrown)); });
    });
  };
  co_await asio::async_initiate<const asio::use_awaitable_t<>, void(std::exception_ptr)>(initiate, asio::use_awaitable,
                                                                                         std::move(work));
}

}  // namespace bj
