// Connections that threads borrow. Made when first needed, up to a number; then borrowers wait their turn, but not for
// ever.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/error.h"

namespace bj {

template <class T>
class ConnectionPool {
 public:
  using Make = std::function<Result<std::unique_ptr<T>>()>;
  ConnectionPool(int most, int timeout_ms, Make make) : most_(most), timeout_(timeout_ms), make_(std::move(make)) {}

  // The last one returned is lent first: its statements are the warmest.
  Result<void> with(const std::function<Result<void>(T&)>& work) {
    BJ_TRY(std::unique_ptr<T> lent, lend());
    const Return keeper{*this, lent};
    return work(*lent);
  }

 private:
  struct Return {
    ConnectionPool& pool;
    std::unique_ptr<T>& lent;
    ~Return() { pool.take_back(std::move(lent)); }
  };

  Result<std::unique_ptr<T>> lend() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, timeout_, [&] { return !idle_.empty() || made_ < most_; }))
      return fail(Code::kUnavailable, "every connection to the database was busy for too long");
    if (!idle_.empty()) {
      auto lent = std::move(idle_.back());
      idle_.pop_back();
      return lent;
    }
    made_++;
    lock.unlock();
    auto made = make_();
    if (!made) take_back(nullptr);
    return made;
  }
  // Nothing: one may be made in its place.
  void take_back(std::unique_ptr<T> lent) {
    {
      const std::lock_guard lock(mutex_);
      if (lent) {
        idle_.push_back(std::move(lent));
      } else {
        made_--;
      }
    }
    changed_.notify_one();
  }

  const int most_;
  const std::chrono::milliseconds timeout_;
  const Make make_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<T>> idle_;
  int made_ = 0;
};

}  // namespace bj
