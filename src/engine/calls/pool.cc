#include "engine/calls/pool.h"

#include <sys/socket.h>

#include <algorithm>

#include "sys/bytes.h"

namespace bj {
namespace {

constexpr auto kLately = std::chrono::milliseconds(50);  // a few processes could be forked in this time

// One more call, however it ends.
class Counted {
 public:
  explicit Counted(size_t& count) : count_(count) { ++count_; }
  ~Counted() { --count_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  size_t& count_;
};

// A waiting process that died (its memory group was full, its zygote ended) has closed its channel.
bool alive(const Runner& runner) {
  char byte;
  return receive_some(runner.channel->native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT).not_now();
}

}  // namespace

Pool::Pool(const asio::any_io_executor& executor, std::unique_ptr<RunnerSource> source, PoolOptions options)
    : executor_(executor), source_(std::move(source)), options_(options), idle_(executor), changed_(executor) {}

size_t Pool::target() const {
  return std::clamp(peak_ + peak_ / 2, options_.least, std::max(options_.least, options_.most));
}

size_t Pool::warm_count() const {
  return static_cast<size_t>(std::count_if(ready_.begin(), ready_.end(), [](const Waiting& w) { return w.warm; }));
}

bool Pool::found_none_lately() const { return Clock::now() < found_none_ + kLately; }

std::shared_ptr<Runner> Pool::take_ready() {
  while (!ready_.empty()) {
    std::shared_ptr<Runner> runner = std::move(ready_.front().runner);
    ready_.pop_front();
    if (alive(*runner)) return runner;
    finish(std::move(runner));
  }
  return nullptr;
}

Task<Result<CallResult>> Pool::call(const CallSpec& spec) {
  const auto self = shared_from_this();
  if (stopping_) co_return fail(Code::kUnavailable, "the engine is stopping");
  const Counted running(running_);
  peak_ = std::max(peak_, running_);
  last_used_ = Clock::now();
  std::shared_ptr<Runner> runner = take_ready();
  const bool on_demand = !runner;
  if (on_demand) {
    found_none_ = Clock::now();
    BJ_CO_TRY(runner, co_await source_->start_now());
  }
  Result<CallResult> result = co_await call_with(runner, spec, on_demand);
  if (result) source_->learn(*result);
  finish(std::move(runner));
  refill_soon();
  shrink_when_idle();
  co_return result;
}

Task<Result<CallResult>> Pool::call_with(std::shared_ptr<Runner> runner, const CallSpec& spec, bool on_demand) {
  std::shared_ptr<NetworkUse> used;
  if (!spec.network.allows_nothing()) {
    used = std::make_shared<NetworkUse>();
    BJ_CO_CHECK(runner->open_network(spec, noting(used, spec.on_network)));
  }
  if (spec.require_full_seal && !runner->seal().full()) {
    co_return fail(Code::kUnavailable, "a full seal was asked for and can't be had: " + runner->seal().missing());
  }
  CallResult result = co_await converse(executor_, runner, spec, on_demand);
  if (used) {
    runner->close_network();
    result.network = std::move(*used);
  }
  co_return result;
}

// Burying takes longer than the caller should wait.
void Pool::finish(std::shared_ptr<Runner> runner) {
  begin();
  runner->kill();
  spawn(executor_, [self = shared_from_this(), runner = std::move(runner)]() mutable -> Task<void> {
    co_await runner->bury();
    runner.reset();
    self->end();
  });
}

void Pool::end() {
  --active_;
  changed_.tell();
}

void Pool::refill_soon() {
  if (refilling_ || stopping_ || (ready_.size() >= target() && warm_count() >= std::min(options_.warm, ready_.size())))
    return;
  refilling_ = true;
  begin();
  spawn(executor_, [self = shared_from_this()]() -> Task<void> { co_await self->refill(); });
}

// One at a time: what runs in the foreground keeps the processors. Warm ones first, they are what the next call takes;
// unless calls come faster than that and find none at all. Warming takes as long as a call, and spares it half of that.
Task<void> Pool::refill() {
  bool going = true;
  while (going && !stopping_) {
    const bool lacks_any = ready_.size() < target();
    if (warm_count() < std::min(options_.warm, ready_.size()) && !(lacks_any && found_none_lately())) {
      going = co_await warm_one();
    } else {
      going = lacks_any && co_await add_one();
    }
  }
  refilling_ = false;
  end();
}

Task<bool> Pool::add_one() {
  Result<std::shared_ptr<Runner>> started = co_await source_->start_ahead();
  if (!started) co_return false;
  if (stopping_) {
    finish(std::move(*started));
    co_return false;
  }
  ready_.push_back({std::move(*started), false});
  co_return true;
}

Task<bool> Pool::warm_one() {
  const auto cold = std::find_if(ready_.begin(), ready_.end(), [](const Waiting& w) { return !w.warm; });
  if (cold == ready_.end()) co_return false;
  std::shared_ptr<Runner> runner = std::move(cold->runner);
  ready_.erase(cold);
  if (!co_await source_->warm_up(*runner) || stopping_) {
    finish(std::move(runner));
    co_return !stopping_;
  }
  ready_.push_front({std::move(runner), true});
  co_return true;
}

void Pool::shrink_when_idle() {
  idle_.expires_after(options_.idle);
  idle_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (error || !self || self->stopping_ || self->running_ > 0) return;
    self->peak_ = 0;
    while (self->ready_.size() > self->target()) {
      std::shared_ptr<Runner> runner = std::move(self->ready_.back().runner);
      self->ready_.pop_back();
      self->finish(std::move(runner));
    }
  });
}

Task<void> Pool::settle() {
  const auto self = shared_from_this();
  refill_soon();
  while (active_ > 0) {
    co_await changed_.wait();
  }
}

Task<void> Pool::stop() {
  const auto self = shared_from_this();
  stopping_ = true;
  idle_.cancel();
  while (!ready_.empty()) {
    std::shared_ptr<Runner> runner = std::move(ready_.front().runner);
    ready_.pop_front();
    finish(std::move(runner));
  }
  while (active_ > 0) {
    co_await changed_.wait();
  }
  co_await source_->stop();
}

}  // namespace bj
