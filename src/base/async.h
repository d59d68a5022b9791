// The async glue: what we use of Boost.Asio, under our names. One io_context a thread; objects stay on their thread.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/channel.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/fd.h"

namespace bj {

namespace asio = boost::asio;
template <class T>
using Task = asio::awaitable<T>;
using Clock = std::chrono::steady_clock;

// Completes with (error_code) instead of throwing.
inline constexpr auto kNoThrow = asio::as_tuple(asio::use_awaitable);

// A value that arrives once. The promise side never waits; dropping it leaves the waiter to its cancellation.
template <class T>
class OneShot {
 public:
  explicit OneShot(const asio::any_io_executor& executor) : channel_(executor, 1) {}

  void set(T value) { channel_.try_send(boost::system::error_code(), std::move(value)); }
  // Fails when the other side closed without a value.
  Task<Result<T>> get() {
    auto [error, value] = co_await channel_.async_receive(kNoThrow);
    if (error) co_return fail(Code::kUnavailable, "the other side is gone");
    co_return std::move(value);
  }
  void close() { channel_.close(); }

 private:
  asio::experimental::channel<void(boost::system::error_code, T)> channel_;
};

// What every file would otherwise instantiate again is in async.cc: a file with coroutines then compiles in a third of
// the time.

// Runs on its own from now on; nobody waits for it. What `body` captures lives as long as it runs.
void spawn(const asio::any_io_executor& executor, std::function<Task<void>()> body);

// Waits until `descriptor` is readable (or closed by the peer), or it was cancelled: then false.
Task<bool> readable(asio::posix::stream_descriptor& descriptor);
Task<bool> writable(asio::posix::stream_descriptor& descriptor);
// Until the timer expires; false: it was cancelled, or moved, before.
Task<bool> expired(asio::steady_timer& timer);

// Runs `work` on a pool's thread; the awaiting coroutine goes on where it was.
Task<void> run_on(asio::thread_pool& pool, std::function<void()> work);

// The same for work that yields something. The result is kept apart from the waiter, who may be gone before it.
template <class F>
Task<std::invoke_result_t<F>> offload(asio::thread_pool& pool, F work) {
  struct Job {
    F work;
    std::optional<std::invoke_result_t<F>> result;
  };
  const auto job = std::make_shared<Job>(Job{std::move(work), {}});
  co_await run_on(pool, [job] { job->result.emplace(job->work()); });
  co_return std::move(*job->result);
}

}  // namespace bj
