// The life of sandboxes: made, paused, resumed, ended when their time is over, counted against their organization's
// share, told about truthfully after a restart.
//
// Every change is a command in the durable queue, put there together with the change of state that it begins, claimed
// by this server, and finished together with the state that it leads to. What a server that died left in the queue is
// taken up by the next one that may. Sandboxes that have outlived a server are adopted by the next one (adoption.cc);
// the others are told about as lost.
//
// Stays on the server's thread; the database is asked on the store's threads. The clock is passed in.
#pragma once

#include <atomic>
#include <boost/json/object.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "audit/audit_log.h"
#include "base/change.h"
#include "base/turn.h"
#include "control/deadlines.h"
#include "control/lifecycle.h"
#include "control/live_sandbox.h"
#include "control/sandbox_image.h"
#include "control/sandbox_log.h"
#include "control/sandbox_wishes.h"
#include "control/template_catalog.h"
#include "store/command_table.h"
#include "store/layer_table.h"
#include "store/sandbox_table.h"
#include "store/store.h"

namespace bj {

struct NewSandbox {
  std::string template_name = "base";
  std::optional<int64_t> timeout_s;
  std::string on_timeout = "kill";  // or pause, or stop: with its files kept
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
  std::string image;  // what its root is made from, if that is known (sandbox_image.h); empty: as the name says
};

// What a pause keeps: everything, or the files alone. Of the latter the processes end, and a resume starts it anew.
enum class PauseKeeps { kMemory, kFiles };

struct Resumed {
  SandboxRow row;
  bool cold = false;  // its processes were gone: it was started anew with its files
};

struct SnapshotWish {
  std::string name;  // "[name][:tag]"; empty: it has its id only
  MaybeText idempotency_key;
};

// A template that was made of a sandbox's files, and how much they are on disk: with what it shares with others.
struct SnapshotView {
  TemplateView view;
  std::vector<std::string> tags;  // of its name: each is what was kept under it last
  int64_t size_bytes = 0;
};

struct NewForks {
  int64_t count = 1;
  std::optional<int64_t> timeout_s;  // none: the parent's
  MaybeText idempotency_key;
};

// One sandbox of a fork: its id, or why there is none.
struct Forked {
  std::string id;
  std::string error;
};

struct ManagerOptions {
  std::string node;  // this server, "<machine>/<instance>"
  SandboxShare quota{100, 0, 0, 0, 0};
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
  explicit HeldSandbox(const asio::any_io_executor& executor) : turn(executor) {}
  // What a change has left. They are told of by several threads, in any order: an earlier one's is history.
  void learn(const SandboxRow& left, uint64_t order) {
    if (order < last_change) return;
    row = left;
    last_change = order;
  }

  SandboxRow row;  // as the database has it now
  std::shared_ptr<LiveSandbox> live;
  SandboxLog log;
  std::string network_stamp;  // of its organization's policy and credentials, as it has them (NetworkPolicyTable)
  uint64_t last_change = 0;   // that `row` knows
  Turn turn;                  // of what makes it stand still, go on or change its files (SandboxManager::alone_with)
};

enum class TimeoutRule { kSet, kOnlyLonger };

class SandboxManager {
 public:
  // The referenced must outlive it.
  SandboxManager(const asio::any_io_executor& executor, Store& store, asio::thread_pool& threads, AuditLog& audit,
                 SandboxHost& host, TemplateCatalog& templates, ManagerOptions options);

  // Tells what died, takes up what was left to do, keeps the time until stop().
  Task<Result<void>> start();
  // Ends every sandbox of this server.
  Task<void> stop();

  // A failed create leaves a row that says why (`failed`), unless the request itself was refused. The other commands
  // leave the row in the state that it was in, unless they say otherwise; an end that could not be written is written
  // by tick().
  Task<Result<SandboxRow>> create(Actor actor, NewSandbox wanted);
  Task<Result<SandboxRow>> get(std::string organization, std::string id);
  Task<Result<std::vector<SandboxRow>>> list(std::string organization, SandboxFilter filter, Page page);
  // These, and those about files below, do once what is asked for again with the same key: it has the first outcome.
  Task<Result<SandboxRow>> set_timeout(Actor actor, std::string id, int64_t seconds, TimeoutRule rule,
                                       MaybeText key = {});
  Task<Result<PauseReport>> pause(Actor actor, std::string id, PauseKeeps keeps = PauseKeeps::kMemory,
                                  MaybeText key = {});
  // A paused one goes on, one that is stopped and has its files is started with them. It has its whole timeout
  // again, or the given one.
  Task<Result<Resumed>> resume(Actor actor, std::string id, std::optional<int64_t> timeout_s = {}, MaybeText key = {});
  // Ends its processes and keeps its files.
  Task<Result<SandboxRow>> stop_keeping_files(Actor actor, std::string id, MaybeText key = {});
  // Ends it and forgets it.
  Task<Result<void>> remove(Actor actor, std::string id, MaybeText key = {});
  Task<Result<SandboxShare>> used(std::string organization);

  // Its files as they are now, to make others from. A sandbox that runs stands still while they are copied; of one that
  // is stopped nothing is copied.
  Task<Result<SnapshotView>> snapshot(Actor actor, std::string id, SnapshotWish wanted);
  // Others with the same files, variables, limits and network, each its own from then on.
  Task<Result<std::vector<Forked>>> fork(Actor actor, std::string id, NewForks wanted);
  // Its files become the snapshot's (or another template's); its processes end.
  Task<Result<SandboxRow>> rollback(Actor actor, std::string id, std::string snapshot, MaybeText key = {});
  Task<Result<SnapshotView>> get_snapshot(std::string organization, std::string id_or_name);
  Task<Result<std::vector<SnapshotView>>> list_snapshots(std::string organization, MaybeText sandbox, Page page);
  // Sandboxes that were made from it keep their files. Of a name with a tag the other tags stay.
  Task<Result<void>> remove_snapshot(Actor actor, std::string id_or_name);
  // All that a template is called, its id last. kNotFound: there is none.
  Task<Result<std::vector<std::string>>> names_of_template(std::string organization, std::string reference);

  // One that runs, for its processes and files. kNotFound: there is none of this organization; kConflict: it is paused,
  // or over.
  Task<Result<std::shared_ptr<HeldSandbox>>> running(std::string organization, std::string id);
  // The same, paused or not.
  Task<Result<std::shared_ptr<HeldSandbox>>> held(std::string organization, std::string id);

  // All that live here.
  const std::map<std::string, std::shared_ptr<HeldSandbox>>& all_held() const { return held_; }
  // By its id alone, for a request to one of its ports, which has no key: whoever calls decides what proves it. One
  // that is paused and wakes by requests is resumed. kNotFound: there is none, or it does not run.
  Task<Result<std::shared_ptr<HeldSandbox>>> for_traffic(std::string id);
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
    std::optional<SandboxEnvironment> environment;  // none: the database has it
    HeldTurn turn;                                  // of one that somebody waits for; gone with the work
  };

  // The command that a key of this organization was used for before, if it was.
  Task<Result<std::optional<CommandRow>>> earlier(std::string organization, MaybeText key);
  Task<Outcome> perform(Actor actor, std::string id, std::string kind, boost::json::object payload,
                        MaybeText idempotency_key = {});
  // What a request is told whose key was used before: the first one's outcome, once there is one.
  Task<Outcome> repeated(CommandRow first, std::string kind, std::string id, boost::json::object payload);
  Result<void> check_is_here(const SandboxRow& row) const;
  Result<void> begin(Transaction& transaction, SandboxRow& row, const CommandRow& command) const;
  Task<Outcome> carry_out(Work work);
  // Until the turn is left, nobody else pauses, resumes, stops with its files or rolls back this one. kConflict: it is
  // not this server's any more, or the event can't happen to it now.
  Task<Result<HeldTurn>> alone_with(const std::shared_ptr<HeldSandbox>& sandbox, LifeEvent event);
  // Carries out; what may pass is tried again later, by tick(), and told to whoever waits then.
  Task<Outcome> work_on(Work work);
  Task<Outcome> make(Work work);
  Task<Outcome> freeze(Work work);
  Task<Outcome> thaw(Work work);
  Task<Outcome> move_end(Work work);
  Task<Outcome> end(Work work);
  Task<Outcome> end_with_files(Work work);
  Task<Outcome> start_again(Work work);
  Task<Outcome> roll_back(Work work);
  Task<Outcome> take_snapshot(Work work);
  Task<Outcome> fork_off(Work work);
  // What nobody waits for: its files reach the disk.
  Task<void> settle_fork(SealedFiles sealed);
  // What a sandbox is made from as it stands, with the files that were copied for that (none of one that is stopped).
  struct Standing {
    SandboxImage image;
    std::optional<SealedFiles> sealed;
  };
  Task<Result<Standing>> seal(const Work& work, AfterSeal then);
  Task<Result<NewSandbox>> like(const SandboxRow& parent);
  Result<void> note(Transaction& transaction, const std::string& organization, const SealedFiles& sealed) const;
  Task<void> keep_spare(std::shared_ptr<HeldSandbox> sandbox);
  Task<void> discard(std::optional<SealedFiles> sealed);
  // Of these layers, those that nobody uses any more go.
  Task<void> collect(std::vector<std::string> layers);
  // Of all of them: after templates have gone, whose builds used some.
  Task<void> collect_unused();
  Task<void> collect_left_over();
  // What a template's or snapshot's name means now, so that the sandbox keeps it.
  Task<Result<void>> resolve_template(const std::string& organization, NewSandbox& wanted);
  Result<SnapshotView> view_of(TemplateView view);

  // Changes the row by an event, and ends the command in the same transaction.
  Task<Result<SandboxRow>> conclude(const Work& work, LifeEvent event, std::string reason, std::string outcome);
  Task<Result<SandboxRow>> change(std::string organization, std::string id, SandboxTable::Edit edit,
                                  Durability durability = Durability::kNow);
  Task<void> watch(std::shared_ptr<HeldSandbox> held);
  Task<Result<void>> check_wishes(const Actor& actor, SandboxWishes& wishes);
  // Somebody works with it: if it asked for that, it has its whole timeout again.
  void extend(const std::shared_ptr<HeldSandbox>& held);
  Task<void> expire(std::string id);
  Task<void> take_up_work();
  // Ends what failed while the database could not be told.
  Task<void> settle_claims();
  Task<void> settle_ends();
  Task<void> hear_of_others();
  Task<void> write_end(SandboxRow row);
  // What has ended long ago goes, a little at a time.
  Task<void> forget_old();
  // Policies and credentials of organizations change under the sandboxes that live, by whoever uses the database.
  Task<void> renew_networks();
  std::string network_stamp(const std::string& organization) const;
  Task<Result<SandboxRow>> set_network_in_turn(Actor actor, std::string id, std::string network, std::string details);
  Task<Result<void>> reconcile();
  // Those that were this server's when it ran the last time.
  Task<void> adopt_kept(std::vector<SandboxRow> rows);
  Task<void> adopt(SandboxRow row);
  Task<void> lose(SandboxRow row, std::string reason);
  void tell_lost(const SandboxRow& row, const std::string& reason);
  void hold(const std::shared_ptr<HeldSandbox>& sandbox);
  // Whoever is to end it when its time is over learns when that is: by its row as it is known now.
  void keep_end_of(const HeldSandbox& sandbox);
  // Its end has buried its commands but the one that ended it: whoever waits for one that was to be tried again hears
  // it.
  void tell_waiting(const std::string& sandbox, const std::string& why, const std::string& ended_by);
  Task<void> keep_time();
  void end_due();
  // What the queue asks for, networks, what was left over.
  Task<void> tend();
  Task<void> keep_tending();
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
  LayerTable layers_;
  NetworkPolicyTable policies_;
  TemplateCatalog& templates_;
  std::map<std::string, std::shared_ptr<HeldSandbox>> held_;
  Deadlines deadlines_;
  struct Waiting {
    std::string sandbox;
    std::shared_ptr<OneShot<Outcome>> outcome;
    bool here = false;  // it is being carried out by this server
  };
  std::map<std::string, Waiting> waiting_;     // by command, for one that is tried again
  std::map<std::string, std::string> stamps_;  // of policies_, when they were last asked for
  Turn network_turn_;                          // networks change one after the other
  Turn create_turns_;                          // sandboxes are made a few at a time
  asio::steady_timer wake_;
  asio::steady_timer tending_;         // between looks at the queue
  std::vector<CommandRow> unsettled_;  // failed, and the database was not told: why
  std::vector<SandboxRow> unwritten_;  // ended by themselves, and the database was not told
  int64_t forget_at_ = 0;
  Change idle_;                        // told when something that runs in the background has ended
  std::atomic<uint64_t> changes_ = 0;  // of rows, in the order of their transactions
  size_t running_ = 0;
  size_t watching_ = 0;  // of those that run: who only waits for a sandbox's end, or for the clock
  bool stopping_ = false;
};

}  // namespace bj
