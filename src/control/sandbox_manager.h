// The life of sandboxes: made, paused, resumed, ended when their time is over, counted against their organization's
// share, told about truthfully after a restart.
//
// Every change is a command in the durable queue, put there together with the change of state that it begins, claimed
// by this server, and finished together with the state that it leads to. What a server that died left in the queue is
// taken up by the next one that may. Sandboxes live in this process: those of a server that died have ended with it.
//
// Stays on the server's thread; the database is asked on the store's threads. The clock is passed in.
#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "audit/audit_log.h"
#include "control/deadlines.h"
#include "control/lifecycle.h"
#include "control/live_sandbox.h"
#include "control/sandbox_log.h"
#include "control/sandbox_wishes.h"
#include "store/command_table.h"
#include "store/sandbox_table.h"
#include "store/store.h"

namespace bj {

struct NewSandbox {
  std::string template_name = "base";
  std::optional<int64_t> timeout_s;
  std::string on_timeout = "kill";  // or pause
  SandboxEnvironment environment;
  std::map<std::string, std::string> metadata;
  std::string user;
  std::optional<double> cpus;
  std::optional<int64_t> memory_bytes, disk_bytes, processes;
  std::string network = "null";          // JSON
  std::vector<std::string> credentials;  // names of what its gate gives to requests
  SandboxWishes wishes;                  // volumes by their names
  MaybeText idempotency_key;
  std::string access = "private";  // of its ports: private, token or public
  bool wakes = false;              // a request to a port resumes it
  std::string details = "{}";      // JSON object of the API's own
};

struct ManagerOptions {
  std::string node;  // this server, "<machine>/<instance>"
  SandboxShare quota{100, 0, 0, 0};
  Limits limits;  // of a sandbox that asks for none
  int64_t usual_timeout_s = 300;
  int64_t longest_timeout_s = 24 * 3600;
  std::function<int64_t()> now;                               // microseconds since the epoch
  std::function<bool(const std::string& node)> node_is_dead;  // of another server; may say no when it can't know
  // Finds the volumes that an organization's sandbox is to have; none: there are no volumes here.
  std::function<Task<Result<void>>(std::string organization, std::vector<VolumeWish>& volumes)> find_volumes;
};

// A sandbox that lives here.
struct HeldSandbox {
  SandboxRow row;  // as the database has it
  std::shared_ptr<LiveSandbox> live;
  SandboxLog log;
};

enum class TimeoutRule { kSet, kOnlyLonger };

class SandboxManager {
 public:
  // The referenced must outlive it.
  SandboxManager(const asio::any_io_executor& executor, Store& store, asio::thread_pool& threads, AuditLog& audit,
                 SandboxHost& host, ManagerOptions options);

  // Tells what died, takes up what was left to do, keeps the time until stop().
  Task<Result<void>> start();
  // Ends every sandbox of this server.
  Task<void> stop();

  Task<Result<SandboxRow>> create(Actor actor, NewSandbox wanted);
  Task<Result<SandboxRow>> get(std::string organization, std::string id);
  Task<Result<std::vector<SandboxRow>>> list(std::string organization, SandboxFilter filter, Page page);
  Task<Result<SandboxRow>> set_timeout(Actor actor, std::string id, int64_t seconds, TimeoutRule rule);
  Task<Result<PauseReport>> pause(Actor actor, std::string id);
  // It has its whole timeout again, or the given one.
  Task<Result<SandboxRow>> resume(Actor actor, std::string id, std::optional<int64_t> timeout_s = {});
  // Ends it and forgets it.
  Task<Result<void>> remove(Actor actor, std::string id);
  Task<Result<SandboxShare>> used(std::string organization);

  // One that runs, for its processes and files. kNotFound: there is none of this organization; kConflict: it is paused,
  // or over.
  Task<Result<std::shared_ptr<HeldSandbox>>> running(std::string organization, std::string id);
  // The same, paused or not.
  Task<Result<std::shared_ptr<HeldSandbox>>> held(std::string organization, std::string id);

  // By its id alone, for a request to one of its ports, which has no key: whoever calls decides what proves it. One
  // that is paused and wakes by requests is resumed. kNotFound: there is none, or it does not run.
  Task<Result<std::shared_ptr<HeldSandbox>>> for_traffic(std::string id);
  // All that live here, for what must find one by a proof.
  const std::map<std::string, std::shared_ptr<HeldSandbox>>& all_held() const { return held_; }
  // Who may use its ports, and what an API keeps with it.
  Task<Result<SandboxRow>> set_access(Actor actor, std::string id, std::string access);
  // What it may reach from now on, within what its organization may (JSON, as NewSandbox has it).
  Task<Result<SandboxRow>> set_network(Actor actor, std::string id, std::string network, std::string details);

  // In the background; stop() waits for it. For what ends with its sandbox.
  void run(std::function<Task<void>()> work);

  // What the clock and the queue ask for now. Called by itself while it runs; tests call it.
  Task<void> tick();
  // Waits until nothing but sandboxes' lives goes on in the background. For tests.
  Task<void> settle();

 private:
  using Outcome = Result<boost::json::object>;
  struct Work {
    CommandRow command;
    SandboxRow row;
    Actor actor;
  };

  Task<Outcome> perform(Actor actor, std::string id, std::string kind, boost::json::object payload);
  Task<Outcome> carry_out(Work work);
  // Carries out; what may pass is tried again later, by tick(), and told to whoever waits then.
  Task<Outcome> work_on(Work work);
  Task<Outcome> make(Work work);
  Task<Outcome> freeze(Work work);
  Task<Outcome> thaw(Work work);
  Task<Outcome> move_end(Work work);
  Task<Outcome> end(Work work);

  // Changes the row by an event, and ends the command in the same transaction.
  Task<Result<SandboxRow>> conclude(const Work& work, LifeEvent event, std::string reason, std::string outcome);
  Task<Result<SandboxRow>> change(std::string organization, std::string id, SandboxTable::Edit edit);
  Task<void> watch(std::shared_ptr<HeldSandbox> held);
  Task<Result<void>> check_wishes(const Actor& actor, SandboxWishes& wishes);
  // Somebody works with it: if it asked for that, it has its whole timeout again.
  void extend(const std::shared_ptr<HeldSandbox>& held);
  Task<void> expire(std::string id);
  Task<void> take_up_work();
  Task<Result<void>> reconcile();
  Task<void> keep_time();
  void receipt(const Actor& actor, const std::string& action, const SandboxRow& row, const std::string& outcome,
               boost::json::object detail = {});
  Result<SandboxRow> row_of(const Actor& actor, const NewSandbox& wanted) const;
  int64_t now() const { return options_.now(); }

  asio::any_io_executor executor_;
  asio::thread_pool& threads_;
  AuditLog& audit_;
  SandboxHost& host_;
  ManagerOptions options_;
  SandboxTable sandboxes_;
  CommandTable commands_;
  std::map<std::string, std::shared_ptr<HeldSandbox>> held_;
  Deadlines deadlines_;
  std::map<std::string, std::shared_ptr<OneShot<Outcome>>> waiting_;  // by command, for one that is tried again
  asio::steady_timer wake_;
  asio::steady_timer idle_;  // never expires: cancelled when something that runs in the background has ended
  size_t running_ = 0;
  size_t watching_ = 0;  // of those that run: who only waits for a sandbox's end, or for the clock
  bool stopping_ = false;
};

}  // namespace bj
