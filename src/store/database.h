// One thin interface over SQLite and libpq: SQL text with $1-style parameters in, typed rows out. The dialect is what
// both understand: BIGINT, TEXT and DOUBLE PRECISION columns, ON CONFLICT, RETURNING; truth values are 0 and 1.
//
// Everything here blocks: callers run on worker threads. A Database may be used by many threads at once; it leases one
// connection per statement or transaction out of a small pool, and each connection keeps its prepared statements.
// SQLite has one writer at a time (and waits for other processes' writers), readers never wait for it. A deadlock or a
// lost connection to PostgreSQL is retried; what fails after that has changed nothing.
//
// Failures: kConflict (unique), kDangling (foreign key), kBusy (lock or deadlock that did not go away, try again),
// kUnavailable (server gone, timeout), kInvalid (text the database can't hold), kInternal.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"

namespace bj {

struct Blob {
  std::string bytes;
};

// One column of a row.
using Value = std::variant<std::monostate, int64_t, double, std::string, Blob>;

// One parameter of a statement. It points at the caller's text, which must live until the statement has run.
class Param {
 public:
  using Content = std::variant<std::monostate, int64_t, double, std::string_view, const Blob*>;

  Param(std::nullptr_t) {}
  Param(int value) : content_(int64_t{value}) {}
  Param(int64_t value) : content_(value) {}
  Param(bool value) : content_(int64_t{value}) {}
  Param(double value) : content_(value) {}
  Param(const char* value) : content_(std::string_view(value)) {}
  Param(std::string_view value) : content_(value) {}
  Param(const std::string& value) : content_(std::string_view(value)) {}
  Param(const Blob& value) : content_(&value) {}
  template <class T>
  Param(const std::optional<T>& value) {
    if (value) content_ = Param(*value).content_;
  }
  const Content& content() const { return content_; }
  // PostgreSQL can't hold such a text, so nobody may store one.
  bool has_nul() const {
    const auto* text = std::get_if<std::string_view>(&content_);
    return text && text->find('\0') != std::string_view::npos;
  }

 private:
  Content content_;
};

class Row {
 public:
  explicit Row(std::vector<Value> values) : values_(std::move(values)) {}

  bool is_null(size_t column) const { return std::holds_alternative<std::monostate>(values_[column]); }
  // 0 and "" for null; a column of another kind is a mistake in our own SQL.
  int64_t integer(size_t column) const;
  double real(size_t column) const;
  const std::string& text(size_t column) const;
  const std::string& blob(size_t column) const;
  std::optional<std::string> maybe_text(size_t column) const;
  std::optional<int64_t> maybe_integer(size_t column) const;
  bool truth(size_t column) const { return integer(column) != 0; }
  const Value& value(size_t column) const { return values_[column]; }
  size_t size() const { return values_.size(); }

 private:
  std::vector<Value> values_;
};

struct Rows {
  std::vector<Row> rows;
  int64_t affected = 0;  // by INSERT, UPDATE, DELETE
};

using Params = std::span<const Param>;

// A value that was read, as a parameter; it must live as long.
Param param_of(const Value& value);

enum class DatabaseKind { kSqlite, kPostgres };

// What the last failure left behind, which decides whether the same may be tried again.
enum class StatementFailure {
  kNone,
  kFinal,       // trying again would fail again
  kRolledBack,  // a deadlock or a serialization failure: nothing happened
  kLost,        // the server went away: nothing happened unless a commit was under way
};

// One connection, used by one thread at a time. The engines implement it; callers meet it as a Transaction.
class DatabaseConnection {
 public:
  virtual ~DatabaseConnection() = default;
  virtual Result<Rows> run(std::string_view sql, Params params) = 0;
  virtual StatementFailure last_failure() const = 0;  // kNone if the last statement succeeded
};

// Statements that commit together. Made by Database::transact; without its commit everything is undone.
class Transaction {
 public:
  Transaction(DatabaseConnection& connection, DatabaseKind engine) : connection_(connection), engine_(engine) {}
  Result<Rows> run(std::string_view sql, Params params) { return connection_.run(sql, params); }
  Result<Rows> run(std::string_view sql, std::initializer_list<Param> params = {}) {
    return run(sql, Params(params.begin(), params.size()));
  }
  DatabaseKind engine() const { return engine_; }

 private:
  DatabaseConnection& connection_;
  DatabaseKind engine_;
};

// When a commit has reached the disk. kWithTheNext: not when it returns, but before any later commit has, in the same
// order. It outlives this process at once, the machine only then: for the first half of something whose second half
// is what somebody is told.
enum class Durability { kNow, kWithTheNext };

class Database {
 public:
  virtual ~Database() = default;
  Database() = default;
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  virtual DatabaseKind engine() const = 0;

  // A SELECT, on any connection; sees everything committed before it.
  Result<Rows> read(std::string_view sql, Params params);
  Result<Rows> read(std::string_view sql, std::initializer_list<Param> params = {}) {
    return read(sql, Params(params.begin(), params.size()));
  }
  // One changing statement, durable when it returns.
  Result<Rows> write(std::string_view sql, Params params);
  Result<Rows> write(std::string_view sql, std::initializer_list<Param> params = {}) {
    return write(sql, Params(params.begin(), params.size()));
  }
  // Runs `work` in a transaction and commits if it succeeded. It may be run again after a deadlock: no effects outside.
  Result<void> transact(const std::function<Result<void>(Transaction&)>& work,
                        Durability durability = Durability::kNow);
  // The same for work that yields a value.
  template <class T>
  Result<T> transact_value(const std::function<Result<T>(Transaction&)>& work,
                           Durability durability = Durability::kNow) {
    std::optional<T> value;
    BJ_CHECK(transact(
        [&](Transaction& transaction) -> Result<void> {
          BJ_TRY(value, work(transaction));
          return {};
        },
        durability));
    return std::move(*value);
  }

 protected:
  enum class Access { kRead, kWrite };
  // Leases a connection for the time of `work`. With kWrite and SQLite it is the one writer.
  virtual Result<void> with_connection(Access access, const std::function<Result<void>(DatabaseConnection&)>& work) = 0;
  virtual const char* begin_statement() const = 0;

 private:
  // One try. Yields its outcome, and in `again` whether another one makes sense.
  Result<void> try_once(Access access, bool& again, const std::function<Result<void>(DatabaseConnection&)>& work,
                        bool retry_lost);
  Result<void> try_transaction(bool& again, const std::function<Result<void>(Transaction&)>& work,
                               Durability durability);
};

struct SqliteOptions {
  std::string path;
  int readers = 4;
  int busy_timeout_ms = 10'000;
};
struct PostgresOptions {
  std::string url;  // postgresql://user:password@host/database; never logged
  int connections = 8;
  int statement_timeout_ms = 30'000;
  int connect_timeout_s = 10;
};
Result<std::unique_ptr<Database>> open_sqlite(SqliteOptions options);
Result<std::unique_ptr<Database>> open_postgres(PostgresOptions options);

}  // namespace bj
