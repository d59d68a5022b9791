// The Python interpreter of a sandbox from which its contexts are forked: started when the first is wanted, as the
// sandbox's user, and again if it has ended. Nothing of the user's runs in it.
#pragma once

#include <memory>
#include <string>

#include "engine/context_process.h"
#include "engine/sandbox.h"

namespace bj {

// Stays on its executor's thread.
class InterpreterZygote {
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

  asio::any_io_executor executor_;
  std::shared_ptr<Sandbox> sandbox_;
  std::shared_ptr<PacketSocket> control_;
  std::shared_ptr<OneShot<bool>> ready_;
  std::shared_ptr<OneShot<bool>> starting_;  // for those who come while it starts
  int pid_ = 0;
};

}  // namespace bj
