// Processes that wait for calls, each used once. Refilled in the background, a few of them warm, bounded in number,
// shrinking when idle. A call never waits for the pool: on an empty one it starts its own process.
#pragma once

#include <deque>
#include <memory>

#include "base/async.h"
#include "base/change.h"
#include "engine/calls/channel.h"

namespace bj {

// Where runners come from: a zygote's forks, or fresh Node processes.
class RunnerSource {
 public:
  virtual ~RunnerSource() = default;
  // For a call that is waiting: returns as early as it can be written to; it has not said 'R' yet.
  virtual Task<Result<std::shared_ptr<Runner>>> start_now() = 0;
  // For the pool: returns when the process waits, sealed.
  virtual Task<Result<std::shared_ptr<Runner>>> start_ahead() = 0;
  // Lets a waiting process take its slow steps now. False: it is of no use any more.
  virtual Task<bool> warm_up(Runner& runner) = 0;
  virtual void learn(const CallResult& result) { (void)result; }
  virtual Task<void> stop() = 0;
};

struct PoolOptions {
  size_t least = 4;                                           // kept even when idle
  size_t most = 64;                                           // reached when calls come that fast
  size_t warm = 16;                                           // how many of them are warm
  std::chrono::milliseconds idle = std::chrono::seconds(30);  // without a call, back to `least`

  bool operator==(const PoolOptions&) const = default;
};

// Stays on its executor's thread.
class Pool : public std::enable_shared_from_this<Pool> {
 public:
  Pool(const asio::any_io_executor& executor, std::unique_ptr<RunnerSource> source, PoolOptions options);

  Task<Result<CallResult>> call(const CallSpec& spec);
  // Waits until the pool is as full and warm as it will get. For benchmarks and tests.
  Task<void> settle();
  // Ends waiting processes and waits for what still runs.
  Task<void> stop();
  bool busy() const { return running_ > 0; }
  Clock::time_point last_used() const { return last_used_; }

 private:
  struct Waiting {
    std::shared_ptr<Runner> runner;
    bool warm = false;
  };

  std::shared_ptr<Runner> take_ready();
  Task<Result<CallResult>> call_with(std::shared_ptr<Runner> runner, const CallSpec& spec, bool on_demand);
  void finish(std::shared_ptr<Runner> runner);
  void refill_soon();
  Task<void> refill();
  Task<bool> add_one();
  Task<bool> warm_one();
  void shrink_when_idle();
  size_t target() const;
  size_t warm_count() const;
  bool found_none_lately() const;
  void begin() { ++active_; }
  void end();

  asio::any_io_executor executor_;
  std::unique_ptr<RunnerSource> source_;
  PoolOptions options_;
  std::deque<Waiting> ready_;  // warm ones first
  size_t running_ = 0;         // calls
  size_t peak_ = 0;            // of running_, since the last idle time
  size_t active_ = 0;          // background work
  Clock::time_point last_used_ = Clock::now();
  Clock::time_point found_none_;  // when a call had to start its own process, the last time
  bool refilling_ = false;
  bool stopping_ = false;
  asio::steady_timer idle_;
  Change changed_;  // told when background work ends
};

}  // namespace bj
