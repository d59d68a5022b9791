// A context: code that is executed in it one piece after another sees the same state. Its process is started when it is
// first needed, and again after it has died, then without its state: an execution says so. Python's can be checkpointed
// and rolled back: a checkpoint is a forked process that waits (runtimes/python/README.md).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/turn.h"
#include "engine/interpreters/context_process.h"
#include "engine/sandbox.h"

namespace bj {

class InterpreterZygote;

struct ContextCheckpoint {
  std::string id;
  int64_t count = 0;  // executions before it
  Clock::time_point made;
};

enum class ContextRole : uint8_t { kUsual, kFurther };  // usual: its language's default one

// What a key of the keeper's is of, if it is of a context of this sandbox. `checkpoint` is empty for the context
// itself.
struct KeptContextKey {
  std::string context, checkpoint;
};
std::optional<KeptContextKey> kept_context_key(const std::string& sandbox, const std::string& key);

// Stays on its executor's thread.
class InterpreterContext : public std::enable_shared_from_this<InterpreterContext> {
 public:
  InterpreterContext(const asio::any_io_executor& executor, std::shared_ptr<Sandbox> sandbox,
                     std::shared_ptr<InterpreterZygote> zygote, ContextLanguage language, std::string directory,
                     ContextRole role);
  ~InterpreterContext();
  // Goes on with one of another server's, and with a checkpoint of it.
  static Result<std::shared_ptr<InterpreterContext>> take_up(const asio::any_io_executor& executor,
                                                             std::shared_ptr<Sandbox> sandbox,
                                                             std::shared_ptr<InterpreterZygote> zygote, std::string id,
                                                             KeptThing thing);
  Result<void> take_up_checkpoint(const std::string& id, KeptThing thing);

  const std::string& id() const { return id_; }
  ContextLanguage language() const { return language_; }
  const std::string& directory() const { return directory_; }
  ContextRole role() const { return role_; }
  Clock::time_point made() const { return made_; }
  int64_t count() const { return count_; }
  bool running() const { return running_; }

  // Starts its process, if it has none. kInvalid: the directory is not there.
  Task<Result<void>> start();
  // Waits for its turn. A listener who leaves ends the code, as a timeout does: by an interrupt, and if that does not
  // help, by ending the process.
  Task<Result<ExecutionEnd>> execute(Execution execution, ExecutionListener listener);
  // What runs now gets SIGINT, where one can be lost more than once; nothing if nothing runs.
  Task<Result<void>> interrupt();
  // Ends the process, whatever it does, and starts a new one. Checkpoints stay.
  Task<Result<void>> restart();

  // Between executions. kConflict says why it can't be: threads, tasks, too many checkpoints.
  Task<Result<ContextCheckpoint>> checkpoint();
  std::vector<ContextCheckpoint> checkpoints() const;
  Task<Result<void>> roll_back(std::string id);
  Result<void> drop_checkpoint(const std::string& id);

  // Executions fail from now on. kKill: its processes end now; kWithSandbox: they do so anyway, and the sandbox is not
  // to be touched any more.
  enum class Ending : uint8_t { kKill, kWithSandbox };
  void end(Ending ending);

 private:
  struct Kept {
    ContextCheckpoint about;
    std::shared_ptr<ContextProcess> process;
    size_t order = 0;
  };
  struct Run;

  Task<Result<std::shared_ptr<ContextProcess>>> spawn_process();
  Task<Result<void>> begin();
  Task<Result<void>> replace(std::shared_ptr<ContextProcess> process);
  Task<bool> lost_its_sandbox();
  Task<Result<ExecutionEnd>> not_begun(Error why);
  Task<void> converse(Run& run);
  Task<void> deliver(Run& run, ExecutionEvent event);
  Task<void> press(Run& run);
  bool take_message(Run& run, ContextMessage message, ExecutionEvent& event);
  void expect_interrupt_to_be_lost();
  Clock::time_point settled_at() const;
  void explain_death(Run& run, uint64_t kills_before);
  void kill_process();
  Result<std::shared_ptr<ContextProcess>> waiting_process(Fd channel);
  // With the keeper (kept_context.cc). Nothing for a sandbox that is not kept.
  std::string key() const;
  void keep();
  void keep_checkpoint(const Kept& kept);
  void forget_checkpoint(const std::string& id);
  void forget_all();

  asio::any_io_executor executor_;
  std::shared_ptr<Sandbox> sandbox_;
  std::shared_ptr<InterpreterZygote> zygote_;
  std::string id_;
  ContextLanguage language_;
  std::string directory_;
  ContextRole role_;
  Clock::time_point made_ = Clock::now();
  Turn turn_;
  std::shared_ptr<ContextProcess> process_;
  std::map<std::string, Kept> checkpoints_;
  size_t checkpoints_made_ = 0;
  int64_t count_ = 0;
  int interrupts_left_ = 0;  // that are sent again while the code goes on
  Clock::time_point began_at_;
  Clock::time_point next_interrupt_ = Clock::time_point::max();
  bool code_began_ = false;
  bool interrupt_waits_ = false;  // for the code to begin: one that comes before ends nothing, or too much
  bool running_ = false, ended_ = false, had_process_ = false, restarting_ = false, sandbox_ended_ = false;
};

}  // namespace bj
