#include "store/database.h"

#include <chrono>
#include <thread>

namespace bj {
namespace {

constexpr int kRetries = 3;

// 0.1 s, 0.2 s, 0.4 s: long enough for the other side of a deadlock to finish.
void wait_before(int attempt) { std::this_thread::sleep_for(std::chrono::milliseconds(100 << attempt)); }

const std::string& empty_text() {
  static const std::string none;
  return none;
}

// Undoes what was not committed, also when an exception passes. After a failed BEGIN there is nothing to undo, which
// the database says and nobody reads.
class RollBack {
 public:
  explicit RollBack(DatabaseConnection& connection) : connection_(&connection) {}
  RollBack(const RollBack&) = delete;
  RollBack& operator=(const RollBack&) = delete;
  ~RollBack() {
    if (connection_) (void)connection_->run("ROLLBACK", {});
  }
  void dismiss() { connection_ = nullptr; }

 private:
  DatabaseConnection* connection_;
};

// SQLite says it of a connection, outside of transactions; PostgreSQL of a transaction.
class Unhurried {
 public:
  Unhurried(DatabaseConnection& connection, DatabaseKind engine, Durability durability) {
    if (durability == Durability::kNow || engine != DatabaseKind::kSqlite) return;
    if (connection.run("PRAGMA synchronous=NORMAL", {})) connection_ = &connection;
  }
  Unhurried(const Unhurried&) = delete;
  Unhurried& operator=(const Unhurried&) = delete;
  ~Unhurried() {
    if (connection_) (void)connection_->run("PRAGMA synchronous=FULL", {});
  }

 private:
  DatabaseConnection* connection_ = nullptr;
};

}  // namespace

Param param_of(const Value& value) {
  if (const auto* integer = std::get_if<int64_t>(&value)) return *integer;
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* blob = std::get_if<Blob>(&value)) return *blob;
  return nullptr;
}

int64_t Row::integer(size_t column) const { return is_null(column) ? 0 : std::get<int64_t>(values_[column]); }
double Row::real(size_t column) const { return is_null(column) ? 0 : std::get<double>(values_[column]); }
const std::string& Row::text(size_t column) const {
  return is_null(column) ? empty_text() : std::get<std::string>(values_[column]);
}
const std::string& Row::blob(size_t column) const {
  return is_null(column) ? empty_text() : std::get<Blob>(values_[column]).bytes;
}
std::optional<std::string> Row::maybe_text(size_t column) const {
  if (is_null(column)) return std::nullopt;
  return text(column);
}
std::optional<int64_t> Row::maybe_integer(size_t column) const {
  if (is_null(column)) return std::nullopt;
  return integer(column);
}

Result<void> Database::try_once(Access access, bool& again,
                                const std::function<Result<void>(DatabaseConnection&)>& work, bool retry_lost) {
  again = false;
  return with_connection(access, [&](DatabaseConnection& connection) -> Result<void> {
    auto done = work(connection);
    if (!done) {
      const StatementFailure failure = connection.last_failure();
      again = failure == StatementFailure::kRolledBack || (failure == StatementFailure::kLost && retry_lost);
    }
    return done;
  });
}

Result<Rows> Database::read(std::string_view sql, Params params) {
  for (int attempt = 0;; attempt++) {
    Rows rows;
    bool again = false;
    auto done = try_once(
        Access::kRead, again,
        [&](DatabaseConnection& connection) -> Result<void> {
          BJ_TRY(rows, connection.run(sql, params));
          return {};
        },
        true);
    if (done) return rows;
    if (!again || attempt == kRetries) return tl::unexpected(std::move(done).error());
    wait_before(attempt);
  }
}

// A connection that breaks here leaves open whether the statement was carried out, so that is not tried again.
Result<Rows> Database::write(std::string_view sql, Params params) {
  for (int attempt = 0;; attempt++) {
    Rows rows;
    bool again = false;
    auto done = try_once(
        Access::kWrite, again,
        [&](DatabaseConnection& connection) -> Result<void> {
          BJ_TRY(rows, connection.run(sql, params));
          return {};
        },
        false);
    if (done) return rows;
    if (!again || attempt == kRetries) return tl::unexpected(std::move(done).error());
    wait_before(attempt);
  }
}

Result<void> Database::try_transaction(bool& again, const std::function<Result<void>(Transaction&)>& work,
                                       Durability durability) {
  again = false;
  return with_connection(Access::kWrite, [&](DatabaseConnection& connection) -> Result<void> {
    bool committing = false;
    const Unhurried unhurried(connection, engine(), durability);  // ends after the transaction
    RollBack undo(connection);
    const auto attempt = [&]() -> Result<void> {
      BJ_CHECK(connection.run(begin_statement(), {}));
      if (durability == Durability::kWithTheNext && engine() == DatabaseKind::kPostgres)
        BJ_CHECK(connection.run("SET LOCAL synchronous_commit = off", {}));
      Transaction transaction(connection, engine());
      BJ_CHECK(work(transaction));
      committing = true;
      BJ_CHECK(connection.run("COMMIT", {}));
      return {};
    };
    auto done = attempt();
    if (done) {
      undo.dismiss();
    } else {
      const StatementFailure failure = connection.last_failure();
      again = failure == StatementFailure::kRolledBack || (failure == StatementFailure::kLost && !committing);
    }
    return done;
  });
}

Result<void> Database::transact(const std::function<Result<void>(Transaction&)>& work, Durability durability) {
  for (int attempt = 0;; attempt++) {
    bool again = false;
    auto done = try_transaction(again, work, durability);
    if (done || !again || attempt == kRetries) return done;
    wait_before(attempt);
  }
}

}  // namespace bj
