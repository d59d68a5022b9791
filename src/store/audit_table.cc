#include "store/audit_table.h"

#include <algorithm>

#include "store/sql.h"

namespace bj {
namespace {

#define AUDIT_COLUMNS                                                                                          \
  "sequence, id, time_us, organization_id, user_id, key_id, kind, action, subject, outcome, call_id, detail, " \
  "previous_hash, hash"

constexpr size_t kColumns = 14;
constexpr size_t kTogether = 32;  // rows of one statement: a round trip each would be slow

// SQLite holds whatever somebody writes past us into a column. What each is, a letter a column: n a number, t a text,
// m a text or nothing.
constexpr std::string_view kEventKinds = "ntntmmttmtmttt";
constexpr std::string_view kCheckpointKinds = "nttnt";
constexpr std::string_view kLinkKinds = "nt";

bool has_kinds(const Row& row, std::string_view kinds) {
  for (size_t column = 0; column < kinds.size(); column++) {
    const Value& value = row.value(column);
    const bool fits = kinds[column] == 'n'
                          ? std::holds_alternative<int64_t>(value)
                          : std::holds_alternative<std::string>(value) || (kinds[column] == 'm' && row.is_null(column));
    if (!fits) return false;
  }
  return true;
}

int64_t sequence_of(const Row& row) {
  const auto* const number = std::get_if<int64_t>(&row.value(0));
  return number == nullptr ? 0 : *number;
}

AuditRow event_of(const Row& row) {
  AuditRow event;
  event.sequence = row.integer(0);
  event.id = row.text(1);
  event.time = row.integer(2);
  event.organization = row.text(3);
  event.user = row.maybe_text(4);
  event.key = row.maybe_text(5);
  event.kind = row.text(6);
  event.action = row.text(7);
  event.subject = row.maybe_text(8);
  event.outcome = row.text(9);
  event.call_id = row.maybe_text(10);
  event.detail = row.text(11);
  event.previous_hash = row.text(12);
  event.hash = row.text(13);
  return event;
}

Result<AuditRow> sound_event(const Row& row) {
  if (has_kinds(row, kEventKinds)) return event_of(row);
  return fail(Code::kConflict, "audit event " + std::to_string(sequence_of(row)) +
                                   " is not what was written: `belljar audit verify` tells more");
}

std::string insert_statement(size_t rows) {
  std::string sql = "INSERT INTO audit_events (" AUDIT_COLUMNS ") VALUES ";
  size_t next = 1;
  for (size_t row = 0; row < rows; row++) {
    sql += row == 0 ? "(" : ", (";
    for (size_t column = 0; column < kColumns; column++) sql += (column == 0 ? "$" : ", $") + std::to_string(next++);
    sql += ")";
  }
  return sql;
}

Result<void> insert_rows(Transaction& transaction, const std::string& sql, std::span<const AuditRow> rows) {
  std::vector<Param> params;
  params.reserve(rows.size() * kColumns);
  for (const AuditRow& e : rows) {
    params.insert(params.end(), {e.sequence, e.id, e.time, e.organization, e.user, e.key, e.kind, e.action, e.subject,
                                 e.outcome, e.call_id, e.detail, e.previous_hash, e.hash});
  }
  BJ_CHECK(transaction.run(sql, Params(params)));
  return {};
}

}  // namespace

Result<AuditLink> AuditTable::lock_head(Transaction& transaction) {
  const std::string sql = "SELECT sequence, hash FROM audit_head WHERE id = 1" + std::string(for_update(transaction));
  BJ_TRY(const Rows rows, transaction.run(sql));
  if (rows.rows.empty() || !has_kinds(rows.rows[0], kLinkKinds))
    return fail(Code::kInternal, "the audit's head is missing from the database: `belljar audit verify` tells more");
  return AuditLink{rows.rows[0].integer(0), rows.rows[0].text(1)};
}

Result<bool> AuditTable::has_event(Transaction& transaction, const std::string& id) {
  BJ_TRY(const Rows rows, transaction.run("SELECT 1 FROM audit_events WHERE id = $1", {id}));
  return !rows.rows.empty();
}

Result<void> AuditTable::insert(Transaction& transaction, std::span<const AuditRow> rows) {
  static const std::string kMany = insert_statement(kTogether);
  static const std::string kOne = insert_statement(1);
  while (rows.size() >= kTogether) {
    BJ_CHECK(insert_rows(transaction, kMany, rows.first(kTogether)));
    rows = rows.subspan(kTogether);
  }
  for (; !rows.empty(); rows = rows.subspan(1)) BJ_CHECK(insert_rows(transaction, kOne, rows.first(1)));
  return {};
}

Result<void> AuditTable::set_head(Transaction& transaction, const AuditLink& head) {
  BJ_CHECK(transaction.run("UPDATE audit_head SET sequence = $1, hash = $2 WHERE id = 1", {head.sequence, head.hash}));
  return {};
}

Result<AuditEnds> AuditTable::ends() {
  // One statement sees one moment, also while others write.
  BJ_TRY(const Rows rows, database_.read("SELECT (SELECT sequence FROM audit_head WHERE id = 1), "
                                         "(SELECT hash FROM audit_head WHERE id = 1), "
                                         "(SELECT MAX(sequence) FROM audit_events), "
                                         "(SELECT MAX(sequence) FROM audit_checkpoints)"));
  const Row& row = rows.rows[0];
  AuditEnds ends;
  if (has_kinds(row, kLinkKinds)) ends.head = AuditLink{row.integer(0), row.text(1)};
  for (const size_t column : {2, 3}) {
    if (!row.is_null(column) && !std::holds_alternative<int64_t>(row.value(column)))
      return fail(Code::kConflict, "the audit has a row whose number is none: `belljar audit verify` tells more");
  }
  ends.last_sequence = row.integer(2);
  ends.last_checkpoint = row.integer(3);
  return ends;
}

Result<int64_t> AuditTable::count_misplaced() {
  std::string where = "WHERE sequence IS NULL OR sequence < 1";
  if (database_.engine() == DatabaseKind::kSqlite) where += " OR typeof(sequence) <> 'integer'";
  BJ_TRY(const Rows rows, database_.read("SELECT (SELECT COUNT(*) FROM audit_events " + where +
                                         ") + (SELECT COUNT(*) FROM audit_checkpoints " + where + ")"));
  return rows.rows[0].integer(0);
}

Result<std::vector<AuditRow>> AuditTable::list(const AuditFilter& filter) {
  const bool rising = filter.order == Order::kAscending;
  Sql sql("SELECT " AUDIT_COLUMNS " FROM audit_events WHERE sequence > ");
  sql.bind(std::max<int64_t>(filter.after.value_or(0), 0));  // what stands before the first is no event
  if (filter.organization) sql.add(" AND organization_id = ").bind(*filter.organization);
  if (filter.kind) sql.add(" AND kind = ").bind(*filter.kind);
  if (filter.action) sql.add(" AND action = ").bind(*filter.action);
  if (filter.subject) sql.add(" AND subject = ").bind(*filter.subject);
  if (filter.call_id) sql.add(" AND call_id = ").bind(*filter.call_id);
  if (filter.before) sql.add(" AND sequence < ").bind(*filter.before);
  sql.add(rising ? " ORDER BY sequence LIMIT " : " ORDER BY sequence DESC LIMIT ").bind(filter.limit);
  BJ_TRY(const Rows rows, database_.read(sql.text(), sql.params()));
  std::vector<AuditRow> events;
  for (const Row& row : rows.rows) {
    BJ_TRY(AuditRow event, sound_event(row));
    events.push_back(std::move(event));
  }
  return events;
}

Result<AuditRow> AuditTable::get(int64_t sequence) {
  BJ_TRY(Rows rows,
         database_.read("SELECT " AUDIT_COLUMNS " FROM audit_events WHERE sequence = $1 AND sequence > 0", {sequence}));
  BJ_TRY(const Row row, only_row(std::move(rows), "Event", std::to_string(sequence)));
  return sound_event(row);
}

Result<std::vector<AuditRow>> AuditTable::range(int64_t first, int64_t last, int64_t limit) {
  BJ_TRY(const Rows rows,
         database_.read("SELECT " AUDIT_COLUMNS " FROM audit_events WHERE sequence >= $1 AND sequence <= $2 "
                        "ORDER BY sequence LIMIT $3",
                        {first, last, limit}));
  std::vector<AuditRow> events;
  events.reserve(rows.rows.size());
  for (const Row& row : rows.rows) {
    events.push_back(has_kinds(row, kEventKinds) ? event_of(row) : AuditRow());
    events.back().sequence = sequence_of(row);
  }
  return events;
}

Result<std::optional<int64_t>> AuditTable::follower_of(const std::string& hash) {
  BJ_TRY(
      const Rows rows,
      database_.read("SELECT sequence FROM audit_events WHERE previous_hash = $1 ORDER BY sequence LIMIT 1", {hash}));
  if (rows.rows.empty()) return std::nullopt;
  return rows.rows[0].integer(0);
}

Result<void> AuditTable::add_checkpoint(const AuditCheckpointRow& row) {
  BJ_CHECK(
      database_.write("INSERT INTO audit_checkpoints (sequence, key_id, hash, time_us, signature) "
                      "VALUES ($1, $2, $3, $4, $5) ON CONFLICT (sequence, key_id) DO NOTHING",
                      {row.sequence, row.key_id, row.hash, row.time, row.signature}));
  return {};
}

Result<std::vector<AuditCheckpointRow>> AuditTable::checkpoints(int64_t first, int64_t last) {
  BJ_TRY(const Rows rows, database_.read("SELECT sequence, key_id, hash, time_us, signature FROM audit_checkpoints "
                                         "WHERE sequence >= $1 AND sequence <= $2 ORDER BY sequence, key_id",
                                         {first, last}));
  std::vector<AuditCheckpointRow> list;
  for (const Row& row : rows.rows) {
    AuditCheckpointRow checkpoint;
    if (has_kinds(row, kCheckpointKinds))
      checkpoint = {row.integer(0), row.text(1), row.text(2), row.integer(3), row.text(4)};
    checkpoint.sequence = sequence_of(row);
    list.push_back(std::move(checkpoint));
  }
  return list;
}

}  // namespace bj
