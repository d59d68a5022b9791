// The audit's rows: events in a chain, its head, and the signed checkpoints. The table keeps them and orders writers;
// what a hash is made of, and whether it is right, is src/audit's matter.
//
// Writers lock the head row, so there is one chain a database whatever number of servers writes it, without gaps.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "store/database.h"
#include "store/rows.h"

namespace bj {

struct AuditRow {
  int64_t sequence = 0;  // from 1, without gaps
  Text id;               // "event-…", so that a batch that is written again is known
  int64_t time = 0;
  Text organization;
  MaybeText user;
  MaybeText key;
  Text kind;
  Text action;
  MaybeText subject;
  Text outcome;
  MaybeText call_id;
  Text detail = "{}";  // JSON object
  Text previous_hash;  // hexadecimal, as the next
  Text hash;
};

// The end of the chain; before the first event sequence 0 and a hash of zeros.
struct AuditLink {
  int64_t sequence = 0;
  Text hash;
};

struct AuditCheckpointRow {
  int64_t sequence = 0;
  Text key_id;
  Text hash;
  int64_t time = 0;
  Text signature;  // base64
};

// What the database says about itself, of one moment.
struct AuditEnds {
  std::optional<AuditLink> head;  // none: somebody removed it
  int64_t last_sequence = 0;      // 0: there are no events
  int64_t last_checkpoint = 0;
};

struct AuditFilter {
  MaybeText organization;  // none: of all
  MaybeText kind;
  MaybeText action;
  MaybeText subject;
  MaybeText call_id;
  std::optional<int64_t> after;  // sequence numbers, neither is part of the list
  std::optional<int64_t> before;
  int64_t limit = 100;
  Order order = Order::kDescending;
};

class AuditTable {
 public:
  explicit AuditTable(Database& database) : database_(database) {}

  // Steps of an append, in one transaction: others wait from the first on.
  static Result<AuditLink> lock_head(Transaction& transaction);
  static Result<bool> has_event(Transaction& transaction, const std::string& id);
  static Result<void> insert(Transaction& transaction, std::span<const AuditRow> rows);
  static Result<void> set_head(Transaction& transaction, const AuditLink& head);

  // kConflict, here and in list() and get(): a value is of another type than was written.
  Result<AuditEnds> ends();
  // Rows that no event can have written, events and checkpoints: numbered below 1, or by what is no number. Reads the
  // whole table.
  Result<int64_t> count_misplaced();
  Result<std::vector<AuditRow>> list(const AuditFilter& filter);
  Result<AuditRow> get(int64_t sequence);
  // In order of sequence, of all organizations: first <= sequence <= last, `limit` at most. For those who verify: of an
  // event with a value of another type than was written there is the number alone, without a hash; so of checkpoints().
  Result<std::vector<AuditRow>> range(int64_t first, int64_t last, int64_t limit);
  // The event that claims to follow that hash; reads the whole table.
  Result<std::optional<int64_t>> follower_of(const std::string& hash);

  Result<void> add_checkpoint(const AuditCheckpointRow& row);
  Result<std::vector<AuditCheckpointRow>> checkpoints(int64_t first, int64_t last);

  Database& database() { return database_; }

 private:
  Database& database_;
};

}  // namespace bj
