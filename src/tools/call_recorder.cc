#include "tools/call_recorder.h"

#include "base/log.h"
#include "store/sql.h"

namespace bj {
namespace {

constexpr auto kPause = std::chrono::milliseconds(50);
constexpr auto kBetweenRemovals = std::chrono::minutes(10);
constexpr size_t kMostWaiting = 100'000;  // a database that is away must not fill the memory

}  // namespace

CallRecorder::CallRecorder(const asio::any_io_executor& executor, Store& store, asio::thread_pool& threads,
                           std::chrono::hours keep)
    : executor_(executor),
      store_(store),
      threads_(threads),
      keep_(keep),
      wake_(executor),
      written_(executor),
      ended_(executor) {}

void CallRecorder::add(CallRow call) {
  if (waiting_.size() >= kMostWaiting) {
    log_warning("call_record_dropped", {{"call", call.id}});
    return;
  }
  waiting_.push_back(std::move(call));
}

Task<void> CallRecorder::flush() {
  while (writing_) co_await written_.wait();
  if (waiting_.empty()) co_return;
  writing_ = true;
  std::vector<CallRow> batch = std::exchange(waiting_, {});
  // All in one transaction; if that fails, each by itself: what can't be written must not take others' with it.
  const auto insert = [this, &batch] {
    std::vector<Error> errors;
    if (store_.calls().insert_many(batch)) return errors;
    for (const CallRow& call : batch) {
      if (Result<void> alone = store_.calls().insert_many({call}); !alone) errors.push_back(std::move(alone.error()));
    }
    return errors;
  };
  const std::vector<Error> errors = co_await offload(threads_, insert);
  writing_ = false;
  written_.tell();
  if (!errors.empty()) log_error("calls_not_recorded", {{"count", errors.size()}, {"error", errors.front().what}});
}

Task<void> CallRecorder::remove_old() {
  if (keep_ == std::chrono::hours(0) || Clock::now() < next_removal_) co_return;
  next_removal_ = Clock::now() + kBetweenRemovals;
  const int64_t oldest = now_us() - std::chrono::duration_cast<std::chrono::microseconds>(keep_).count();
  const auto remove = [this, oldest] { return store_.calls().remove_older_than(oldest); };
  const Result<int64_t> removed = co_await offload(threads_, remove);
  if (!removed) log_error("old_calls_not_removed", {{"error", removed.error().what}});
}

void CallRecorder::start() {
  started_ = true;
  spawn(executor_, [this] { return work(); });
}

Task<void> CallRecorder::work() {
  while (!stopping_) {
    wake_.expires_after(kPause);
    (void)co_await expired(wake_);
    co_await flush();
    co_await remove_old();
  }
  ended_.set(true);
}

Task<void> CallRecorder::stop() {
  stopping_ = true;
  wake_.cancel();
  if (started_) (void)co_await ended_.get();
  co_await flush();
}

}  // namespace bj
