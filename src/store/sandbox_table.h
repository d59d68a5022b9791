// Sandboxes: what was asked for, who holds them, how they stand. The values of their variables are encrypted. What a
// state means and which may follow which is decided in src/control; the store keeps the words.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "store/command_table.h"
#include "store/database.h"
#include "store/quota.h"
#include "store/rows.h"
#include "store/vault.h"

namespace bj {

// A sandbox that lives until its time is over, as it was asked for and as it stands.
struct SandboxRow {
  Text id;
  Text organization;
  MaybeText user;  // who made it, with which key
  MaybeText key;
  Text template_name;
  Text state;      // creating | running | paused | stopping | stopped | deleted | error
  Text reason;     // why it is in this state, for people; empty: as asked
  MaybeText node;  // the server instance that holds it
  int64_t timeout_s = 0;
  Text on_timeout = "kill";  // kill | pause | stop
  int64_t end_at = 0;        // when its time is over
  Text inside_user;          // empty: the template's
  double cpus = 0;
  int64_t memory_bytes = 0;
  int64_t disk_bytes = 0;
  int64_t processes = 0;
  Text network = "null";    // JSON: its policy
  Text credentials = "[]";  // JSON: names of what its gate gives to requests
  Text metadata = "{}";     // JSON object of strings
  Text options = "{}";      // JSON: what else it was asked to have, see control/sandbox_wishes.h
  int64_t created_at = 0;
  std::optional<int64_t> started_at;
  std::optional<int64_t> ended_at;
  Text access = "private";  // of its ports: private | token | public
  bool wakes = false;       // a request to a port of it resumes it
  Text details = "{}";      // JSON object: what the API that made it wants to know again
  Text image;               // JSON: what its root is made from, where that is more than its template
  bool kept = false;        // the image is a state of its own files that it can be brought back to
  Text spare_image;         // of a paused one: the image it is brought back to if it ends as it is; empty: none yet
};

// What an organization's sandboxes may take together, or have taken. Of a quota, 0: no limit.
struct SandboxShare {
  int64_t live = 0;
  double cpus = 0;
  int64_t memory_bytes = 0;
  int64_t disk_bytes = 0;
  int64_t stored_bytes = 0;  // of layers: files of stopped sandboxes, snapshots, templates
};

struct SandboxFilter {
  std::vector<std::string> states;              // empty: all but deleted
  bool also_kept = false;                       // and those that can be started again, whatever their state
  std::vector<std::string> templates;           // one of these names, with whatever tag; empty: any
  std::map<std::string, std::string> metadata;  // all of them must match
  std::optional<int64_t> created_since;
};

class SandboxTable {
 public:
  using Edit = std::function<Result<void>(Transaction&, SandboxRow&)>;

  SandboxTable(Database& database, Vault& vault) : database_(database), vault_(vault) {}

  struct Made {
    SandboxRow row;
    // Its command's idempotency key was known: nothing was made, this is the first one's. kConflict: for another
    // payload.
    std::optional<CommandRow> first;
  };
  // The sandbox, its variables, its metadata, the layers it uses and the command that will make it real, if the
  // organization's share allows one more (else is_over_quota(), which says what is used up, or kUnprocessable: it alone
  // is more than that). `volumes`: ids that must be there (else kDangling).
  Result<Made> create(const Actor& actor, SandboxRow row, const std::map<std::string, std::string>& metadata,
                      const std::vector<NewVariable>& variables, const std::vector<std::string>& layers,
                      const SandboxShare& quota, CommandRow command, const std::vector<std::string>& volumes = {});
  // One that is over may live again: the same failures if the organization's share has no room for it.
  static Result<void> check_room(Transaction& transaction, const SandboxRow& row, const SandboxShare& quota);
  // Deleted ones are not found.
  Result<SandboxRow> get(const std::string& organization, const std::string& id);
  // The same by its id alone: for requests to its ports, which bring no key and prove themselves otherwise.
  Result<SandboxRow> find(const std::string& id);
  // Reads, lets `edit` decide, writes, in one transaction; `edit` may change the queue in it, too.
  Result<SandboxRow> change(const std::string& organization, const std::string& id, const Edit& edit,
                            Durability durability = Durability::kNow);
  Result<std::vector<SandboxRow>> list(const std::string& organization, const SandboxFilter& filter, const Page& page);
  Result<std::vector<VariableRow>> variables(const std::string& organization, const std::string& id);
  Result<SandboxShare> used(const std::string& organization);

  // Of all organizations: what is not over, and is held by somebody.
  Result<std::vector<SandboxRow>> held();
  // What a server that is gone leaves: its sandboxes have ended with it, for `reason`, and so have commands to them;
  // what it was about to make, anybody may make. Files of theirs that are on disk are kept. Whose time was over anyway
  // has ended for that reason. Yields those that ended, as they were before.
  Result<std::vector<SandboxRow>> abandon(const std::string& node, const std::string& reason, int64_t now);
  // What this server, when it ran the last time, had begun to do: to be done again, sandboxes that live included.
  Result<void> give_back(const std::string& node);
  // Those whose end is older and that have no files to come back to, so many at most; and, of those that stay, commands
  // that ended so long ago. Yields how many sandboxes went.
  Result<int64_t> remove_ended_before(int64_t time, int64_t most);

 private:
  Database& database_;
  Vault& vault_;
};

}  // namespace bj
