#include "audit/audit_log.h"

#include "audit/chain.h"
#include "base/log.h"
#include "store/sql.h"

namespace bj {
namespace {

constexpr std::chrono::milliseconds kPause{50};
constexpr std::chrono::milliseconds kPauseAfterFailure{1000};
constexpr auto kBetweenCheckpoints = std::chrono::seconds(60);
constexpr size_t kMostWaiting = 10'000;
constexpr size_t kMostTogether = 4096;  // other servers and commands want the chain too

}  // namespace

AuditLog::AuditLog(const asio::any_io_executor& executor, Store& store, asio::thread_pool& threads, Notary notary)
    : executor_(executor),
      store_(store),
      threads_(threads),
      notary_(std::move(notary)),
      batch_ended_(executor),
      wake_(executor),
      ended_(executor),
      next_checkpoint_(Clock::now() + kBetweenCheckpoints) {}

Task<Result<void>> AuditLog::admit() {
  if (waiting_.size() < kMostWaiting) co_return Result<void>();
  co_return co_await flush();
}

void AuditLog::add(const Event& event) {
  waiting_.push_back(row_of(event, now_us()));
  added_++;
}

// Somebody else's batch: its failure is the failure of all who wait for it, or each would try in turn.
Task<Result<void>> AuditLog::await_batch() {
  const uint64_t batch = batches_;
  while (writing_ && batches_ == batch) co_await batch_ended_.wait();
  if (last_failure_) co_return tl::unexpected(*last_failure_);
  co_return Result<void>();
}

Task<Result<void>> AuditLog::write_batch() {
  writing_ = true;
  std::vector<AuditRow> batch;
  while (!waiting_.empty() && batch.size() < kMostTogether) {
    batch.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  const auto write = [this, &batch]() -> Result<void> {
    BJ_TRY(const AuditLink end, append(store_.audit(), batch));
    // The receipts are there; that their end is not kept outside the database must be known, but undoes nothing.
    if (const Result<void> kept = notary_.keep_end(end); !kept)
      log_error("audit_end_not_kept", {{"error", kept.error().what}});
    return {};
  };
  const Result<void> done = co_await offload(threads_, write);
  last_failure_.reset();
  if (done) {
    written_ += batch.size();
  } else {
    last_failure_ = done.error();
    waiting_.insert(waiting_.begin(), std::make_move_iterator(batch.begin()), std::make_move_iterator(batch.end()));
  }
  writing_ = false;
  batches_++;
  batch_ended_.tell();
  co_return done;
}

Task<Result<void>> AuditLog::flush() {
  const uint64_t wanted = added_;
  while (written_ < wanted) {
    if (writing_) {
      BJ_CO_CHECK(co_await await_batch());
    } else {
      BJ_CO_CHECK(co_await write_batch());
    }
  }
  co_return Result<void>();
}

Task<Result<void>> AuditLog::act(Actor actor, std::string action, std::string subject, boost::json::object detail) {
  Event event;
  event.action = std::move(action);
  event.actor = std::move(actor);
  event.subject = std::move(subject);
  event.detail = std::move(detail);
  add(event);
  co_return co_await flush();
}

Task<void> AuditLog::checkpoint() {
  next_checkpoint_ = Clock::now() + kBetweenCheckpoints;
  const uint64_t written = written_;
  if (written == signed_) co_return;
  const auto sign = [this] { return notary_.checkpoint(store_.audit()); };
  const Result<AuditCheckpointRow> head = co_await offload(threads_, sign);
  if (head) {
    signed_ = written;
  } else {
    log_error("audit_not_signed", {{"error", head.error().what}});
  }
}

void AuditLog::start() {
  started_ = true;
  spawn(executor_, [this] { return work(); });
}

Task<void> AuditLog::work() {
  while (!stopping_) {
    wake_.expires_after(last_failure_ ? kPauseAfterFailure : kPause);
    (void)co_await expired(wake_);
    if (const Result<void> done = co_await flush(); !done) {
      log_error("audit_not_written", {{"waiting", waiting_.size()}, {"error", done.error().what}});
    }
    if (Clock::now() >= next_checkpoint_) co_await checkpoint();
  }
  ended_.set(true);
}

Task<void> AuditLog::stop() {
  stopping_ = true;
  wake_.cancel();
  if (started_) (void)co_await ended_.get();
  if (const Result<void> done = co_await flush(); !done) {
    log_error("audit_events_lost", {{"count", waiting_.size()}, {"error", done.error().what}});
  }
  co_await checkpoint();
}

}  // namespace bj
