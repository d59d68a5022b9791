// A value that is waited for no longer than a while.
#pragma once

#include "base/async.h"

namespace bj {

// What arrives later is not taken any more: the promise is closed then.
template <class T>
Task<Result<T>> get_within(std::shared_ptr<OneShot<T>> promise, Clock::duration time) {
  asio::steady_timer late(co_await asio::this_coro::executor, time);
  late.async_wait([promise](const boost::system::error_code& error) {
    if (!error) promise->close();
  });
  Result<T> value = co_await promise->get();
  if (!value && Clock::now() >= late.expiry()) co_return fail(Code::kUnavailable, "it took too long");
  co_return value;
}

}  // namespace bj
