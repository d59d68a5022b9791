// Calls are recorded after they were answered, many in one transaction: a record must not cost a call a disk write.
// What a kill loses is the records of the last moment, never a caller's data. Old records go by age.
//
// Stays on the server's thread; the database is asked on the store's threads.
#pragma once

#include <chrono>
#include <vector>

#include "base/async.h"
#include "base/change.h"
#include "store/store.h"

namespace bj {

class CallRecorder {
 public:
  // `keep`: zero keeps records for ever.
  CallRecorder(const asio::any_io_executor& executor, Store& store, asio::thread_pool& threads,
               std::chrono::hours keep);

  void add(CallRow call);
  // Writes what waits. A reader that wants to see its own calls asks for it first.
  Task<void> flush();
  // Writes in the background, until stop().
  void start();
  Task<void> stop();

 private:
  Task<void> work();
  Task<void> remove_old();

  asio::any_io_executor executor_;
  Store& store_;
  asio::thread_pool& threads_;
  std::chrono::hours keep_;
  std::vector<CallRow> waiting_;
  asio::steady_timer wake_;
  Change written_;  // told when a batch is in the database
  bool writing_ = false;
  OneShot<bool> ended_;
  Clock::time_point next_removal_ = Clock::now();
  bool started_ = false;
  bool stopping_ = false;
};

}  // namespace bj
