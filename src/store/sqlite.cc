// The SQLite engine: one writer, several readers, WAL. SQLite itself keeps several processes on one file apart.
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <thread>

#include "store/connection_pool.h"
#include "store/database.h"
#include "store/statement_cache.h"
#include "sys/files.h"

namespace bj {
namespace {

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

Code code_of(int extended) {
  switch (extended) {
    case SQLITE_CONSTRAINT_UNIQUE:
    case SQLITE_CONSTRAINT_PRIMARYKEY: return Code::kConflict;
    case SQLITE_CONSTRAINT_FOREIGNKEY: return Code::kDangling;
    default: break;
  }
  switch (extended & 0xff) {
    case SQLITE_CONSTRAINT:
    case SQLITE_TOOBIG: return Code::kInvalid;
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return Code::kBusy;
    case SQLITE_FULL:
    case SQLITE_NOMEM: return Code::kExhausted;
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY: return Code::kUnavailable;
    default: return Code::kInternal;
  }
}

tl::unexpected<Error> fail_sqlite(sqlite3* database, const std::string& call) {
  return fail(code_of(sqlite3_extended_errcode(database)), call + ": " + sqlite3_errmsg(database));
}

struct Prepared {
  std::unique_ptr<sqlite3_stmt, FinalizeStatement> statement;
  std::vector<int> places;  // SQLite's own number of $1, $2, …
};

// Leaves a statement as new, whatever became of it: no locks held, no pointers kept.
struct ResetAfterUse {
  sqlite3_stmt* statement;
  ~ResetAfterUse() {
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
  }
};

int bind(sqlite3_stmt* statement, int place, const Param& param) {
  const auto& content = param.content();
  if (const auto* integer = std::get_if<int64_t>(&content)) return sqlite3_bind_int64(statement, place, *integer);
  if (const auto* real = std::get_if<double>(&content)) return sqlite3_bind_double(statement, place, *real);
  if (const auto* text = std::get_if<std::string_view>(&content)) {
    const char* data = text->data() ? text->data() : "";
    return sqlite3_bind_text64(statement, place, data, text->size(), SQLITE_STATIC, SQLITE_UTF8);
  }
  if (const auto* blob = std::get_if<const Blob*>(&content)) {
    const std::string& bytes = (*blob)->bytes;
    return sqlite3_bind_blob64(statement, place, bytes.data(), bytes.size(), SQLITE_STATIC);
  }
  return sqlite3_bind_null(statement, place);
}

Value column_of(sqlite3_stmt* statement, int column) {
  const auto bytes = [&](const void* data) {
    const auto size = static_cast<size_t>(sqlite3_column_bytes(statement, column));
    return size ? std::string(static_cast<const char*>(data), size) : std::string();
  };
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER: return int64_t{sqlite3_column_int64(statement, column)};
    case SQLITE_FLOAT: return sqlite3_column_double(statement, column);
    case SQLITE_TEXT: return bytes(sqlite3_column_text(statement, column));
    case SQLITE_BLOB: return Blob{bytes(sqlite3_column_blob(statement, column))};
    default: return std::monostate();
  }
}

class SqliteConnection final : public DatabaseConnection {
 public:
  static constexpr size_t kMostParametersToKeep = 32;

  explicit SqliteConnection(sqlite3* database) : database_(database) {}

  Result<Rows> run(std::string_view sql, Params params) override {
    failure_ = StatementFailure::kFinal;
    Prepared once;
    BJ_TRY(Prepared * prepared, prepare(sql, params.size(), once));
    sqlite3_stmt* statement = prepared->statement.get();
    const ResetAfterUse reset{statement};
    for (size_t i = 0; i < params.size(); i++) {
      if (params[i].has_nul()) return fail(Code::kInvalid, "a text with a NUL character can't be stored");
      if (bind(statement, prepared->places[i], params[i]) != SQLITE_OK) return fail_sqlite(database_.get(), "bind");
    }
    BJ_TRY(Rows rows, step(statement));
    failure_ = StatementFailure::kNone;
    return rows;
  }
  StatementFailure last_failure() const override { return failure_; }

 private:
  Result<Prepared*> prepare(std::string_view sql, size_t parameters, Prepared& once) {
    if (Prepared* found = cache_.find(sql)) return found;
    Prepared prepared;
    sqlite3_stmt* statement = nullptr;
    const int done = sqlite3_prepare_v3(database_.get(), sql.data(), static_cast<int>(sql.size()),
                                        SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
    prepared.statement.reset(statement);
    if (done != SQLITE_OK) return fail_sqlite(database_.get(), "prepare(" + std::string(sql.substr(0, 80)) + ")");
    for (size_t i = 1; i <= parameters; i++) {
      const int place = sqlite3_bind_parameter_index(statement, ("$" + std::to_string(i)).c_str());
      if (place == 0) return fail(Code::kInternal, "the statement has no $" + std::to_string(i));
      prepared.places.push_back(place);
    }
    if (parameters <= kMostParametersToKeep) return cache_.add(sql, std::move(prepared));
    once = std::move(prepared);
    return &once;
  }

  Result<Rows> step(sqlite3_stmt* statement) {
    Rows rows;
    const int columns = sqlite3_column_count(statement);
    int done = SQLITE_OK;
    while ((done = sqlite3_step(statement)) == SQLITE_ROW) {
      std::vector<Value> values;
      values.reserve(static_cast<size_t>(columns));
      for (int i = 0; i < columns; i++) values.push_back(column_of(statement, i));
      rows.rows.emplace_back(std::move(values));
    }
    if (done != SQLITE_DONE) return fail_sqlite(database_.get(), "the database refuses");
    if (!sqlite3_stmt_readonly(statement)) rows.affected = sqlite3_changes64(database_.get());
    return rows;
  }

  std::unique_ptr<sqlite3, CloseDatabase> database_;
  StatementCache<Prepared> cache_;  // goes before the database
  StatementFailure failure_ = StatementFailure::kNone;
};

enum class Duty { kReader, kWriter };

// Switching an empty file to WAL needs it alone; another process may be doing the same right now.
Result<void> use_wal(SqliteConnection& connection, int timeout_ms) {
  for (int waited_ms = 0;; waited_ms += 20) {
    const auto done = connection.run("PRAGMA journal_mode=WAL", {});
    if (done && !done->rows.empty() && done->rows[0].text(0) == "wal") return {};
    if (done) return fail(Code::kUnavailable, "SQLite can't use a write-ahead log in this file system");
    if (done.error().code != Code::kBusy || waited_ms >= timeout_ms) return tl::unexpected(done.error());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

Result<std::unique_ptr<SqliteConnection>> connect(const SqliteOptions& options, Duty duty) {
  sqlite3* raw = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW;
  const int done = sqlite3_open_v2(options.path.c_str(), &raw, flags, nullptr);
  auto connection = std::make_unique<SqliteConnection>(raw);
  if (done != SQLITE_OK) return fail(Code::kUnavailable, "sqlite3_open(" + options.path + "): " + sqlite3_errstr(done));
  sqlite3_extended_result_codes(raw, 1);
  sqlite3_busy_timeout(raw, options.busy_timeout_ms);
  if (duty == Duty::kWriter) BJ_CHECK(use_wal(*connection, options.busy_timeout_ms));
  BJ_CHECK(connection->run("PRAGMA foreign_keys=ON", {}));
  // FULL: the log is on the disk before a commit returns.
  BJ_CHECK(connection->run("PRAGMA synchronous=FULL", {}));
  // A deleted secret's ciphertext does not stay in free pages.
  BJ_CHECK(connection->run("PRAGMA secure_delete=ON", {}));
  if (duty == Duty::kReader) BJ_CHECK(connection->run("PRAGMA query_only=ON", {}));
  return connection;
}

class SqliteDatabase final : public Database {
 public:
  explicit SqliteDatabase(const SqliteOptions& options)
      : writer_(1, options.busy_timeout_ms, [options] { return connect(options, Duty::kWriter); }),
        readers_(options.readers, options.busy_timeout_ms, [options] { return connect(options, Duty::kReader); }) {}

  DatabaseKind engine() const override { return DatabaseKind::kSqlite; }
  // Fails now instead of at the first use.
  Result<void> check() {
    return with_connection(Access::kWrite, [](DatabaseConnection& connection) -> Result<void> {
      BJ_CHECK(connection.run("SELECT COUNT(*) FROM sqlite_master", {}));
      return {};
    });
  }

 protected:
  Result<void> with_connection(Access access, const std::function<Result<void>(DatabaseConnection&)>& work) override {
    auto& pool = access == Access::kWrite ? writer_ : readers_;
    return pool.with([&](SqliteConnection& connection) { return work(connection); });
  }
  // The write lock at once: a transaction that begins by reading could otherwise find its snapshot outdated.
  const char* begin_statement() const override { return "BEGIN IMMEDIATE"; }

 private:
  ConnectionPool<SqliteConnection> writer_;
  ConnectionPool<SqliteConnection> readers_;
};

// An existing file is never opened here: closing a descriptor of it would drop SQLite's locks of this process.
Result<void> ensure_private_file(const std::string& path) {
  auto made = open_path(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  if (made) {
    const size_t slash = path.rfind('/');
    BJ_TRY(Fd directory, open_path(slash == std::string::npos ? "." : path.substr(0, slash), O_RDONLY | O_DIRECTORY));
    if (::fsync(directory.get()) != 0) return fail_errno("fsync(the directory of " + path + ")");
    return {};
  }
  if (made.error().sys != EEXIST) return tl::unexpected(made.error());
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) return fail_errno("lstat(" + path + ")");
  if (!S_ISREG(status.st_mode)) return fail(Code::kInvalid, path + " is not a regular file");
  if ((status.st_mode & 077) != 0 && ::chmod(path.c_str(), 0600) != 0) return fail_errno("chmod(" + path + ")");
  return {};
}

}  // namespace

// NOLINTNEXTLINE(performance-unnecessary-value-param): who opens gives them away
Result<std::unique_ptr<Database>> open_sqlite(SqliteOptions options) {
  BJ_CHECK(ensure_private_file(options.path));
  auto database = std::make_unique<SqliteDatabase>(options);
  BJ_CHECK(database->check());
  return database;
}

}  // namespace bj
