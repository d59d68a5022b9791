// The Python interpreter of a sandbox from which its contexts are forked: started when the first is wanted, as the
// sandbox's user, and again if it has ended. Nothing of the user's runs in it. Where contexts come and go, the next one
// is forked ahead of its use: most of what a new one costs are the pages that its first steps copy.
#pragma once

#include <boost/json/object.hpp>
#include <memory>
#include <string>

#include "engine/interpreters/context_process.h"
#include "engine/sandbox.h"

namespace bj {

// Stays on its executor's thread.
class InterpreterZygote : public std::enable_shared_from_this<InterpreterZygote> {
 public:
  InterpreterZygote(const asio::any_io_executor& executor, std::shared_ptr<Sandbox> sandbox)
      : executor_(executor), sandbox_(std::move(sandbox)) {}
  ~InterpreterZygote();

  // A context's process, in `directory`; it says ready, or why not, as its first message.
  Task<Result<std::shared_ptr<ContextProcess>>> fork(const std::string& directory);
  // Starts it ahead of the first context.
  Task<Result<void>> ensure();
  // After a fork that did not answer: the next one gets a new zygote.
  void forget();

 private:
  Task<Result<void>> start();
  Result<std::shared_ptr<ContextProcess>> ask_for(const boost::json::object& request);
  std::shared_ptr<ContextProcess> take_spare();
  void prepare_spare_soon();
  Task<void> prepare_spare();

  asio::any_io_executor executor_;
  std::shared_ptr<Sandbox> sandbox_;
  std::shared_ptr<PacketSocket> control_;
  std::shared_ptr<OneShot<bool>> starting_;  // for those who come while it starts
  int pid_ = 0;
  std::shared_ptr<ContextProcess> spare_;  // ready, and in no directory yet
  bool preparing_ = false;
  size_t forks_ = 0;
};

}  // namespace bj
