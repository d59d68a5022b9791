// The durable queue: commands to sandboxes, in the same database as what they change, so that a change of state and its
// message commit together. A command is claimed by one worker at a time, for the time of a lease; a worker that died
// loses its claim when the lease is over. What failed is tried again later, what can't be done is dead and says why.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "store/database.h"
#include "store/rows.h"

namespace bj {

// A message of the durable queue: something to be done to a sandbox, once.
struct CommandRow {
  Text id;
  Text organization;
  Text kind;                  // create | pause | ...
  Text subject;               // the sandbox's id
  Text payload = "{}";        // JSON object
  MaybeText idempotency_key;  // a second command with it, of the same organization, is the first one
  Text state = "waiting";     // waiting | claimed | done | dead
  MaybeText node;             // who must do it; none: anybody
  MaybeText claimed_by;
  int64_t lease_until = 0;  // a claim that is older is anybody's again
  int64_t not_before = 0;
  int64_t attempts = 0;
  Text outcome;  // of a done one JSON, of a dead or failed one a sentence
  int64_t created_at = 0;
  std::optional<int64_t> finished_at;
};

// A claim that somebody else may have taken over: only its holder can end a command.
struct Claim {
  std::string command;
  std::string worker;
};

class CommandTable {
 public:
  explicit CommandTable(Database& database) : database_(database) {}

  // As it stands, with an id if it has none. A key that is taken is kConflict; find_by_key() has the first one.
  static Result<CommandRow> insert(Transaction& transaction, CommandRow command);
  static Result<std::optional<CommandRow>> find_by_key(Transaction& transaction, const std::string& organization,
                                                       const std::string& key);
  // Each fails (kConflict) if the claim is no longer this worker's.
  static Result<void> finish(Transaction& transaction, const Claim& claim, const std::string& outcome, int64_t now);
  static Result<void> bury(Transaction& transaction, const Claim& claim, const std::string& why, int64_t now);
  // What a sandbox's end makes pointless: its commands that nobody has finished.
  static Result<void> bury_all_of(Transaction& transaction, const std::string& sandbox, const std::string& why,
                                  int64_t now);

  Result<void> finish(const Claim& claim, const std::string& outcome, int64_t now);
  Result<void> bury(const Claim& claim, const std::string& why, int64_t now);
  // Gives it back, to be tried again, by anybody who may, when its time has come.
  Result<void> retry(const Claim& claim, const std::string& why, int64_t not_before);
  // The oldest that is due and that this worker, on this node, may do. Two workers never get the same one, and nobody
  // gets what he still works on, however long it takes.
  Result<std::optional<CommandRow>> claim(const std::string& worker, const std::string& node, int64_t now,
                                          int64_t lease_us);
  Result<CommandRow> get(const std::string& id);
  Result<std::optional<CommandRow>> by_key(const std::string& organization, const std::string& key);
  // Dead ones of an organization, newest first.
  Result<std::vector<CommandRow>> dead(const std::string& organization, int64_t limit);

 private:
  Database& database_;
};

}  // namespace bj
