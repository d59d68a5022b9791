#include "store/command_table.h"

#include "base/id.h"
#include "store/sql.h"

namespace bj {
namespace {

#define COMMAND_COLUMNS                                                                                              \
  "id, organization_id, kind, subject, payload, idempotency_key, state, node, claimed_by, lease_until, not_before, " \
  "attempts, outcome, created_at, finished_at"

CommandRow command_of(const Row& row) {
  CommandRow command;
  command.id = row.text(0);
  command.organization = row.text(1);
  command.kind = row.text(2);
  command.subject = row.text(3);
  command.payload = row.text(4);
  command.idempotency_key = row.maybe_text(5);
  command.state = row.text(6);
  command.node = row.maybe_text(7);
  command.claimed_by = row.maybe_text(8);
  command.lease_until = row.integer(9);
  command.not_before = row.integer(10);
  command.attempts = row.integer(11);
  command.outcome = row.text(12);
  command.created_at = row.integer(13);
  command.finished_at = row.maybe_integer(14);
  return command;
}

Result<void> settle(Transaction& transaction, const Claim& claim, const char* state, const std::string& outcome,
                    int64_t now) {
  BJ_TRY(const Rows rows,
         transaction.run("UPDATE sandbox_commands SET state = $1, outcome = $2, finished_at = $3, claimed_by = NULL "
                         "WHERE id = $4 AND claimed_by = $5 AND state = 'claimed'",
                         {state, outcome, now, claim.command, claim.worker}));
  if (rows.affected == 1) return {};
  return fail(Code::kConflict, "the sandbox ended, or another server took this over, before it was done");
}

}  // namespace

Result<CommandRow> CommandTable::insert(Transaction& transaction, CommandRow command) {
  if (command.id.empty()) command.id = new_id("command");
  BJ_CHECK(transaction.run(
      "INSERT INTO sandbox_commands (" COMMAND_COLUMNS
      ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)",
      {command.id, command.organization, command.kind, command.subject, command.payload, command.idempotency_key,
       command.state, command.node, command.claimed_by, command.lease_until, command.not_before, command.attempts,
       command.outcome, command.created_at, command.finished_at}));
  return command;
}

Result<std::optional<CommandRow>> CommandTable::find_by_key(Transaction& transaction, const std::string& organization,
                                                            const std::string& key) {
  BJ_TRY(const Rows rows, transaction.run("SELECT " COMMAND_COLUMNS
                                          " FROM sandbox_commands WHERE organization_id = $1 AND idempotency_key = $2",
                                          {organization, key}));
  if (rows.rows.empty()) return std::nullopt;
  return command_of(rows.rows[0]);
}

Result<void> CommandTable::finish(Transaction& transaction, const Claim& claim, const std::string& outcome,
                                  int64_t now) {
  return settle(transaction, claim, "done", outcome, now);
}

Result<void> CommandTable::bury(Transaction& transaction, const Claim& claim, const std::string& why, int64_t now) {
  return settle(transaction, claim, "dead", why, now);
}

// A deletion has its point when what it deletes has ended.
Result<void> CommandTable::bury_all_of(Transaction& transaction, const std::string& sandbox, const std::string& why,
                                       int64_t now) {
  BJ_CHECK(
      transaction.run("UPDATE sandbox_commands SET state = 'dead', outcome = $1, finished_at = $2, claimed_by = NULL "
                      "WHERE subject = $3 AND state IN ('waiting', 'claimed') AND kind <> 'delete'",
                      {why, now, sandbox}));
  return {};
}

Result<void> CommandTable::finish(const Claim& claim, const std::string& outcome, int64_t now) {
  return database_.transact([&](Transaction& transaction) { return finish(transaction, claim, outcome, now); });
}

Result<void> CommandTable::bury(const Claim& claim, const std::string& why, int64_t now) {
  return database_.transact([&](Transaction& transaction) { return bury(transaction, claim, why, now); });
}

Result<void> CommandTable::retry(const Claim& claim, const std::string& why, int64_t not_before) {
  BJ_TRY(
      const Rows rows,
      database_.write("UPDATE sandbox_commands SET state = 'waiting', outcome = $1, not_before = $2, claimed_by = NULL "
                      "WHERE id = $3 AND claimed_by = $4 AND state = 'claimed'",
                      {why, not_before, claim.command, claim.worker}));
  if (rows.affected == 1) return {};
  return fail(Code::kConflict, "the sandbox ended, or another server took this over");
}

Result<std::optional<CommandRow>> CommandTable::claim(const std::string& worker, const std::string& node, int64_t now,
                                                      int64_t lease_us) {
  return database_.transact_value<std::optional<CommandRow>>(
      [&](Transaction& transaction) -> Result<std::optional<CommandRow>> {
        // Others' locked rows are passed over; SQLite's writer is alone anyway.
        const std::string lock = transaction.engine() == DatabaseKind::kPostgres ? " FOR UPDATE SKIP LOCKED" : "";
        BJ_TRY(const Rows due,
               transaction.run("SELECT id FROM sandbox_commands WHERE not_before <= $1 AND (node IS NULL "
                               "OR node = $2) AND (state = 'waiting' OR (state = 'claimed' AND "
                               "lease_until <= $1 AND claimed_by <> $3)) ORDER BY not_before, created_at, id LIMIT 1" +
                                   lock,
                               {now, node, worker}));
        if (due.rows.empty()) return std::nullopt;
        BJ_TRY(const Rows taken,
               transaction.run("UPDATE sandbox_commands SET state = 'claimed', claimed_by = $1, lease_until = $2, "
                               "attempts = attempts + 1 WHERE id = $3 RETURNING " COMMAND_COLUMNS,
                               {worker, now + lease_us, due.rows[0].text(0)}));
        return command_of(taken.rows[0]);
      });
}

Result<CommandRow> CommandTable::get(const std::string& id) {
  BJ_TRY(Rows rows, database_.read("SELECT " COMMAND_COLUMNS " FROM sandbox_commands WHERE id = $1", {id}));
  BJ_TRY(const Row row, only_row(std::move(rows), "Command", id));
  return command_of(row);
}

Result<std::optional<CommandRow>> CommandTable::by_key(const std::string& organization, const std::string& key) {
  BJ_TRY(const Rows rows, database_.read("SELECT " COMMAND_COLUMNS
                                         " FROM sandbox_commands WHERE organization_id = $1 AND idempotency_key = $2",
                                         {organization, key}));
  if (rows.rows.empty()) return std::nullopt;
  return command_of(rows.rows[0]);
}

Result<std::vector<CommandRow>> CommandTable::dead(const std::string& organization, int64_t limit) {
  BJ_TRY(const Rows rows,
         database_.read("SELECT " COMMAND_COLUMNS
                        " FROM sandbox_commands WHERE organization_id = $1 AND state = 'dead' ORDER BY "
                        "finished_at DESC, id LIMIT $2",
                        {organization, limit}));
  std::vector<CommandRow> commands;
  for (const Row& row : rows.rows) commands.push_back(command_of(row));
  return commands;
}

}  // namespace bj
