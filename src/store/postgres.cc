// The PostgreSQL engine over libpq: parameters in binary where they are bytes, results as text, statements prepared
// once a connection. A connection that the server closed is noticed before it is used, and replaced.
#include <fmt/format.h>
#include <libpq-fe.h>
#include <poll.h>

#include <cstdlib>
#include <memory>

#include "store/connection_pool.h"
#include "store/database.h"
#include "store/statement_cache.h"

namespace bj {
namespace {

struct CloseConnection {
  void operator()(PGconn* connection) const { PQfinish(connection); }
};
struct ClearResult {
  void operator()(PGresult* result) const { PQclear(result); }
};
using Reply = std::unique_ptr<PGresult, ClearResult>;

// Object ids of the types that are not text to us (pg_type.dat; part of the protocol, so they stay).
constexpr Oid kBool = 16, kBytea = 17, kInt8 = 20, kInt2 = 21, kInt4 = 23, kFloat4 = 700, kFloat8 = 701;

Code code_of(std::string_view state) {
  if (state == "23505") return Code::kConflict;
  if (state == "23503") return Code::kDangling;
  if (state == "40P01" || state == "40001" || state == "55P03") return Code::kBusy;
  if (state == "57014" || state.starts_with("08") || state.starts_with("57P") || state.starts_with("53"))
    return Code::kUnavailable;
  if (state.starts_with("22") || state.starts_with("23")) return Code::kInvalid;
  return Code::kInternal;
}

// One line; the server's own ends with a newline, and libpq's may have several.
std::string one_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (char& c : text)
    if (c == '\n') c = ' ';
  return text;
}

// Parameters as libpq wants them. Numbers need room of their own.
struct Arguments {
  std::vector<std::string> numbers;
  std::vector<const char*> values;
  std::vector<int> lengths;
  std::vector<int> formats;

  void add(const char* value, size_t length, int format) {
    values.push_back(value);
    lengths.push_back(static_cast<int>(length));
    formats.push_back(format);
  }
  void add(const Param& param) {
    const auto& content = param.content();
    if (const auto* text = std::get_if<std::string_view>(&content)) {
      add(text->data() ? text->data() : "", text->size(), 1);
    } else if (const auto* blob = std::get_if<const Blob*>(&content)) {
      add((*blob)->bytes.data(), (*blob)->bytes.size(), 1);
    } else if (std::holds_alternative<std::monostate>(content)) {
      add(nullptr, 0, 0);
    } else {
      const auto* integer = std::get_if<int64_t>(&content);
      numbers.push_back(integer ? std::to_string(*integer) : fmt::format("{}", std::get<double>(content)));
      add(numbers.back().c_str(), numbers.back().size(), 0);
    }
  }
};

Value column_of(const PGresult* result, int row, int column) {
  if (PQgetisnull(result, row, column)) return std::monostate();
  const char* text = PQgetvalue(result, row, column);
  const auto size = static_cast<size_t>(PQgetlength(result, row, column));
  switch (PQftype(result, column)) {
    case kBool: return int64_t{text[0] == 't'};
    case kInt2:
    case kInt4:
    case kInt8: return int64_t{std::strtoll(text, nullptr, 10)};
    case kFloat4:
    case kFloat8: return std::strtod(text, nullptr);
    case kBytea: {
      size_t length = 0;
      unsigned char* bytes = PQunescapeBytea(reinterpret_cast<const unsigned char*>(text), &length);
      Blob blob{std::string(reinterpret_cast<char*>(bytes), length)};
      PQfreemem(bytes);
      return blob;
    }
    default: return std::string(text, size);
  }
}

Rows rows_of(const PGresult* result) {
  Rows rows;
  const int columns = PQnfields(result);
  for (int i = 0; i < PQntuples(result); i++) {
    std::vector<Value> values;
    values.reserve(static_cast<size_t>(columns));
    for (int j = 0; j < columns; j++) values.push_back(column_of(result, i, j));
    rows.rows.emplace_back(std::move(values));
  }
  rows.affected = std::strtoll(PQcmdTuples(const_cast<PGresult*>(result)), nullptr, 10);
  return rows;
}

class PostgresConnection final : public DatabaseConnection {
 public:
  static constexpr size_t kMostParametersToKeep = 32;

  explicit PostgresConnection(const PostgresOptions& options) : options_(options) {}

  Result<void> connect() {
    cache_.clear();
    // The url comes last and may override what stands before it.
    const std::string timeout = std::to_string(options_.connect_timeout_s);
    const std::string user_timeout = std::to_string(options_.statement_timeout_ms + 30'000);
    const char* keys[] = {"application_name", "connect_timeout", "keepalives_idle",
                          "tcp_user_timeout", "dbname",          nullptr};
    const char* values[] = {"belljar", timeout.c_str(), "30", user_timeout.c_str(), options_.url.c_str(), nullptr};
    connection_.reset(PQconnectdbParams(keys, values, 1));
    if (!connection_ || PQstatus(connection_.get()) != CONNECTION_OK)
      return fail(Code::kUnavailable,
                  "PostgreSQL: " + one_line(connection_ ? PQerrorMessage(connection_.get()) : "out of memory"));
    PQsetNoticeProcessor(connection_.get(), [](void*, const char*) {}, nullptr);
    if (PQserverVersion(connection_.get()) < 120'000)
      return fail(Code::kUnavailable, "PostgreSQL 12 or newer is needed");
    return set_up();
  }

  // Before a lease: is it still there? A server that stops says so, unasked, and closes. A connection at rest on which
  // anything has arrived is replaced, whatever it was.
  Result<void> ensure_alive() {
    if (connection_ && PQstatus(connection_.get()) == CONNECTION_OK) {
      pollfd descriptor{PQsocket(connection_.get()), POLLIN, 0};
      if (::poll(&descriptor, 1, 0) == 0) return {};
    }
    return connect();
  }

  Result<Rows> run(std::string_view sql, Params params) override {
    failure_ = StatementFailure::kFinal;
    Arguments arguments;
    arguments.numbers.reserve(params.size());  // pointers into them must stay
    for (const Param& param : params) {
      if (param.has_nul()) return fail(Code::kInvalid, "a text with a NUL character can't be stored");
      arguments.add(param);
    }
    const int count = static_cast<int>(params.size());
    Reply reply;
    if (params.size() > kMostParametersToKeep) {
      reply.reset(PQexecParams(connection_.get(), std::string(sql).c_str(), count, nullptr, arguments.values.data(),
                               arguments.lengths.data(), arguments.formats.data(), 0));
    } else {
      BJ_TRY(const std::string* name, prepare(sql));
      reply.reset(PQexecPrepared(connection_.get(), name->c_str(), count, arguments.values.data(),
                                 arguments.lengths.data(), arguments.formats.data(), 0));
    }
    BJ_CHECK(check(reply.get()));
    failure_ = StatementFailure::kNone;
    return rows_of(reply.get());
  }
  StatementFailure last_failure() const override { return failure_; }

 private:
  Result<void> set_up() {
    const std::string settings = fmt::format(
        "SET statement_timeout = {0}; SET lock_timeout = {2}; SET idle_in_transaction_session_timeout = {1}; "
        "SET client_encoding = 'UTF8'; SET standard_conforming_strings = on; SET bytea_output = 'hex'",
        options_.statement_timeout_ms, 2 * options_.statement_timeout_ms, options_.statement_timeout_ms / 3);
    const Reply reply(PQexec(connection_.get(), settings.c_str()));
    return check(reply.get());
  }

  Result<const std::string*> prepare(std::string_view sql) {
    if (const std::string* found = cache_.find(sql)) return found;
    const std::string name = "s" + std::to_string(next_++);
    const Reply reply(PQprepare(connection_.get(), name.c_str(), std::string(sql).c_str(), 0, nullptr));
    BJ_CHECK(check(reply.get()));
    if (const auto oldest = cache_.make_room())
      const Reply dropped(PQexec(connection_.get(), ("DEALLOCATE " + *oldest).c_str()));
    return cache_.add(sql, name);
  }

  Result<void> check(const PGresult* reply) {
    const ExecStatusType status = PQresultStatus(reply);
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) return {};
    const char* state_field = reply ? PQresultErrorField(reply, PG_DIAG_SQLSTATE) : nullptr;
    const std::string_view state = state_field ? state_field : "08006";
    if (PQstatus(connection_.get()) == CONNECTION_BAD) {
      failure_ = StatementFailure::kLost;
    } else if (state == "40P01" || state == "40001") {
      failure_ = StatementFailure::kRolledBack;
    }
    const char* message = reply ? PQresultErrorField(reply, PG_DIAG_MESSAGE_PRIMARY) : nullptr;
    if (!message) message = PQerrorMessage(connection_.get());
    return fail(failure_ == StatementFailure::kLost ? Code::kUnavailable : code_of(state),
                "PostgreSQL: " + one_line(message));
  }

  const PostgresOptions options_;
  std::unique_ptr<PGconn, CloseConnection> connection_;
  StatementCache<std::string> cache_;
  uint64_t next_ = 0;
  StatementFailure failure_ = StatementFailure::kNone;
};

class PostgresDatabase final : public Database {
 public:
  explicit PostgresDatabase(const PostgresOptions& options)
      : pool_(options.connections, options.statement_timeout_ms, [options] {
          return Result<std::unique_ptr<PostgresConnection>>(std::make_unique<PostgresConnection>(options));
        }) {}

  DatabaseKind engine() const override { return DatabaseKind::kPostgres; }
  Result<void> check() {
    return with_connection(Access::kRead, [](DatabaseConnection&) -> Result<void> { return {}; });
  }

 protected:
  Result<void> with_connection(Access, const std::function<Result<void>(DatabaseConnection&)>& work) override {
    return pool_.with([&](PostgresConnection& connection) -> Result<void> {
      BJ_CHECK(connection.ensure_alive());
      return work(connection);
    });
  }
  const char* begin_statement() const override { return "BEGIN"; }

 private:
  ConnectionPool<PostgresConnection> pool_;
};

}  // namespace

// NOLINTNEXTLINE(performance-unnecessary-value-param): who opens gives them away
Result<std::unique_ptr<Database>> open_postgres(PostgresOptions options) {
  auto database = std::make_unique<PostgresDatabase>(options);
  BJ_CHECK(database->check());
  return database;
}

}  // namespace bj
