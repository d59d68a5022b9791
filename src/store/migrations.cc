#include "store/migrations.h"

#include <string>

#include "store/sql.h"

namespace bj {
namespace {

// Any number, as long as it is ours: it names the lock that processes starting at once take in turn.
constexpr int64_t kMigrationLock = 0x62656c6c6a6172;

// PostgreSQL compares text by the database's locale; bytewise is what SQLite does and what cursors rely on.
std::string for_engine(std::string_view sql, DatabaseKind engine) {
  std::string text(sql);
  if (engine == DatabaseKind::kSqlite) return text;
  constexpr std::string_view kType = " TEXT";
  constexpr std::string_view kBytewise = " TEXT COLLATE \"C\"";
  for (size_t at = 0; (at = text.find(kType, at)) != std::string::npos; at += kBytewise.size())
    text.replace(at, kType.size(), kBytewise);
  return text;
}

Result<int64_t> version_of(Transaction& transaction) {
  BJ_CHECK(
      transaction.run("CREATE TABLE IF NOT EXISTS schema_migrations (version BIGINT PRIMARY KEY, name TEXT NOT NULL, "
                      "applied_at BIGINT NOT NULL)"));
  BJ_TRY(const Rows rows, transaction.run("SELECT MAX(version) FROM schema_migrations"));
  return rows.rows[0].integer(0);
}

Result<void> take_missing_steps(Transaction& transaction, std::span<const Migration> steps) {
  if (transaction.engine() == DatabaseKind::kPostgres)
    BJ_CHECK(transaction.run("SELECT pg_advisory_xact_lock($1)", {kMigrationLock}));
  BJ_TRY(const int64_t version, version_of(transaction));
  const int64_t newest = steps.empty() ? 0 : steps.back().version;
  if (version > newest)
    return fail(Code::kInvalid, "the database has schema version " + std::to_string(version) + ", this Belljar knows " +
                                    std::to_string(newest) + ": it was opened by a newer one, use that");
  for (const Migration& step : steps) {
    if (step.version <= version) continue;
    for (const std::string_view statement : step.statements)
      BJ_CHECK(transaction.run(for_engine(statement, transaction.engine())));
    BJ_CHECK(transaction.run("INSERT INTO schema_migrations (version, name, applied_at) VALUES ($1, $2, $3)",
                             {step.version, step.name, now_us()}));
  }
  return {};
}

}  // namespace

Result<void> migrate(Database& database, std::span<const Migration> steps) {
  return database.transact([&](Transaction& transaction) { return take_missing_steps(transaction, steps); });
}

}  // namespace bj
