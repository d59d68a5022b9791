// Where receipts go in: add() puts an event into a queue, and the queue is written in batches off the caller's path,
// many events in one transaction. Nothing is dropped: a queue that is full makes admit() wait for the disk, and what
// could not be written stays and is tried again.
//
//   BJ_CO_CHECK(co_await audit.admit());                 // before work that will leave a receipt
//   audit.add(std::move(event));                         // durable within about 50 ms
//   BJ_CO_CHECK(co_await audit.act(actor, "key.create", id));  // durable when it returns: before the answer
//
// Stays on the server's thread; the database is written on the store's threads. Events keep their order.
#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "audit/event.h"
#include "audit/notary.h"
#include "base/async.h"
#include "base/change.h"
#include "store/store.h"

namespace bj {

class AuditLog {
 public:
  AuditLog(const asio::any_io_executor& executor, Store& store, asio::thread_pool& threads, Notary notary);

  // At once if there is room. Else everything that waits is written first; fails if it can't be.
  Task<Result<void>> admit();
  void add(const Event& event);
  // What was added before is on the disk when it returns.
  Task<Result<void>> flush();
  // An administrative act that has been done. If its receipt can't be written, whoever did it is told.
  Task<Result<void>> act(Actor actor, std::string action, std::string subject, boost::json::object detail = {});

  // Writes and signs in the background, until stop(), which writes and signs the rest.
  void start();
  Task<void> stop();

  size_t waiting() const { return waiting_.size(); }

 private:
  Task<Result<void>> write_batch();
  Task<Result<void>> await_batch();
  Task<void> work();
  Task<void> checkpoint();

  asio::any_io_executor executor_;
  Store& store_;
  asio::thread_pool& threads_;
  Notary notary_;
  std::deque<AuditRow> waiting_;
  uint64_t added_ = 0;
  uint64_t written_ = 0;
  uint64_t signed_ = 0;  // how many were written when the head was last signed
  uint64_t batches_ = 0;
  bool writing_ = false;
  std::optional<Error> last_failure_;
  Change batch_ended_;
  asio::steady_timer wake_;
  OneShot<bool> ended_;
  Clock::time_point next_checkpoint_;
  bool started_ = false;
  bool stopping_ = false;
};

}  // namespace bj
