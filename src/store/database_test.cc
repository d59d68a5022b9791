#include "store/database.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <barrier>
#include <limits>
#include <thread>

#include "store/statement_cache.h"
#include "store/store_test_support.h"

namespace bj {
namespace {

class DatabaseTest : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    if (IsSkipped()) return;
    database_ = connect();
    ASSERT_TRUE(database_);
    const std::string blob = GetParam() == DatabaseKind::kSqlite ? "BLOB" : "BYTEA";
    ASSERT_TRUE(
        database_->write("CREATE TABLE things (id BIGINT PRIMARY KEY, name TEXT UNIQUE, weight DOUBLE PRECISION, raw " +
                         blob + ", parent BIGINT REFERENCES things (id))"));
  }
  std::unique_ptr<Database> connect() const {
    SqliteOptions sqlite;
    sqlite.path = directory_.path() + "/test.db";
    PostgresOptions postgres;
    postgres.url = url_;
    auto opened = GetParam() == DatabaseKind::kSqlite ? open_sqlite(sqlite) : open_postgres(postgres);
    EXPECT_TRUE(opened) << opened.error().what;
    return opened ? std::move(*opened) : nullptr;
  }
  Result<Rows> add(int64_t id, std::string_view name = "") {
    return database_->write("INSERT INTO things (id, name) VALUES ($1, $2)", {id, name});
  }
  int64_t count() { return database_->read("SELECT COUNT(*) FROM things")->rows[0].integer(0); }

  std::unique_ptr<Database> database_;
};

TEST_P(DatabaseTest, EveryKindOfValueComesBackAsItWent) {
  const Blob blob{std::string("\0\xff'\\x", 5)};
  const std::string text = "it's \"quoted\" \\ \u4f60 $1 ; --";
  const int64_t large = std::numeric_limits<int64_t>::min();
  // Parameters in another order than their numbers, one of them twice.
  ASSERT_TRUE(database_->write("INSERT INTO things (weight, name, raw, id, parent) VALUES ($3, $2, $4, $1, $1)",
                               {large, text, 0.1, blob}));
  const auto rows = database_->read("SELECT id, name, weight, raw, parent FROM things WHERE name = $1", {text});
  ASSERT_TRUE(rows) << rows.error().what;
  ASSERT_EQ(rows->rows.size(), 1u);
  const Row& row = rows->rows[0];
  EXPECT_EQ(row.integer(0), large);
  EXPECT_EQ(row.text(1), text);
  EXPECT_EQ(row.real(2), 0.1);
  EXPECT_EQ(row.blob(3), blob.bytes);
  EXPECT_EQ(row.maybe_integer(4), large);
}

TEST_P(DatabaseTest, NullAndEmptyAreDifferent) {
  ASSERT_TRUE(database_->write("INSERT INTO things (id, name, raw) VALUES ($1, $2, $3), (2, $4, $5)",
                               {1, nullptr, nullptr, "", Blob{}}));
  const auto rows = database_->read("SELECT name, raw FROM things ORDER BY id");
  EXPECT_EQ(rows->rows[0].maybe_text(0), std::nullopt);
  EXPECT_TRUE(rows->rows[0].is_null(1));
  EXPECT_EQ(rows->rows[1].maybe_text(0), "");
  EXPECT_FALSE(rows->rows[1].is_null(1));
}

TEST_P(DatabaseTest, FailuresAreToldApart) {
  ASSERT_TRUE(add(1, "a"));
  EXPECT_EQ(add(1, "b").error().code, Code::kConflict);
  EXPECT_EQ(add(2, "a").error().code, Code::kConflict);
  EXPECT_EQ(database_->write("INSERT INTO things (id, parent) VALUES (5, 99)").error().code, Code::kDangling);
  EXPECT_EQ(add(6, std::string_view("a\0b", 3)).error().code, Code::kInvalid);
  EXPECT_EQ(database_->read("SELECT nonsense FROM nowhere").error().code, Code::kInternal);
  EXPECT_EQ(count(), 1);
}

TEST_P(DatabaseTest, AStatementSaysHowManyRowsItChanged) {
  ASSERT_TRUE(add(1, "a"));
  ASSERT_TRUE(add(2, "b"));
  EXPECT_EQ(database_->write("UPDATE things SET weight = 1")->affected, 2);
  EXPECT_EQ(database_->write("DELETE FROM things WHERE id = 7")->affected, 0);
  EXPECT_EQ(database_->write("DELETE FROM things WHERE id = 1 RETURNING id")->rows[0].integer(0), 1);
}

TEST_P(DatabaseTest, ATransactionThatFailsLeavesNothing) {
  const auto done = database_->transact([](Transaction& transaction) -> Result<void> {
    BJ_CHECK(transaction.run("INSERT INTO things (id) VALUES (1)"));
    return fail(Code::kDenied, "changed my mind");
  });
  EXPECT_EQ(done.error().code, Code::kDenied);
  EXPECT_EQ(count(), 0);
  ASSERT_TRUE(add(1));  // and the connection is as good as new
}

TEST_P(DatabaseTest, ATransactionThatThrowsLeavesNothing) {
  EXPECT_THROW((void)database_->transact([](Transaction& transaction) -> Result<void> {
    (void)transaction.run("INSERT INTO things (id) VALUES (1)");
    throw std::runtime_error("a bug");
  }),
               std::runtime_error);
  EXPECT_EQ(count(), 0);
  ASSERT_TRUE(add(1));
}

TEST_P(DatabaseTest, ManyThreadsWriteAndReadAtOnce) {
  std::atomic<int> failures = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; thread++) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 20; i++) {
        const int64_t id = thread * 100 + i;
        if (!add(id, std::to_string(id))) failures++;
        const auto mine = database_->read("SELECT name FROM things WHERE id = $1", {id});
        if (!mine || mine->rows.size() != 1) failures++;  // what was written is seen by the next read
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(count(), 160);
}

TEST_P(DatabaseTest, MoreStatementsThanTheCacheHoldsStillWork) {
  const size_t more = StatementCache<int>::kMost + 50;
  for (size_t i = 0; i < more; i++) {
    const auto rows = database_->read("SELECT $1 + " + std::to_string(i), {int64_t{1}});
    ASSERT_TRUE(rows) << rows.error().what;
    ASSERT_EQ(rows->rows[0].integer(0), static_cast<int64_t>(i) + 1);
  }
}

TEST_P(DatabaseTest, AnotherConnectionSeesWhatWasWritten) {
  const auto second = connect();
  ASSERT_TRUE(add(1, "a"));
  EXPECT_EQ(second->read("SELECT name FROM things")->rows[0].text(0), "a");
  ASSERT_TRUE(second->write("UPDATE things SET name = 'b'"));
  EXPECT_EQ(database_->read("SELECT name FROM things")->rows[0].text(0), "b");
}

BJ_ON_BOTH_ENGINES(DatabaseTest);

class SqliteTest : public DatabaseTest {};
INSTANTIATE_TEST_SUITE_P(Engines, SqliteTest, testing::Values(DatabaseKind::kSqlite), engine_name);

TEST_P(SqliteTest, ItsFilesAreForTheOwnerOnly) {
  ASSERT_TRUE(add(1, "a"));
  for (const char* name : {"test.db", "test.db-wal", "test.db-shm"}) {
    struct stat status{};
    ASSERT_EQ(::stat((directory_.path() + "/" + name).c_str(), &status), 0) << name;
    EXPECT_EQ(status.st_mode & 0777, 0600u) << name;
  }
}

TEST_P(SqliteTest, ItIsDurable) {
  EXPECT_EQ(database_->write("PRAGMA synchronous")->rows[0].integer(0), 2);
  EXPECT_EQ(database_->write("PRAGMA journal_mode")->rows[0].text(0), "wal");
  EXPECT_EQ(database_->write("PRAGMA foreign_keys")->rows[0].integer(0), 1);
}

TEST_P(SqliteTest, ACommitThatReachesTheDiskWithTheNextLeavesTheOthersAsTheyAre) {
  const auto level = [](Transaction& transaction) { return transaction.run("PRAGMA synchronous")->rows[0].integer(0); };
  int64_t unhurried = 0;
  ASSERT_TRUE(database_->transact(
      [&](Transaction& transaction) -> Result<void> {
        unhurried = level(transaction);
        BJ_CHECK(transaction.run("INSERT INTO things (id, name) VALUES (1, 'a')"));
        return {};
      },
      Durability::kWithTheNext));
  EXPECT_EQ(unhurried, 1);
  EXPECT_EQ(database_->write("PRAGMA synchronous")->rows[0].integer(0), 2);
  EXPECT_FALSE(database_->transact([](Transaction&) -> Result<void> { return fail(Code::kInvalid, "no"); },
                                   Durability::kWithTheNext));
  EXPECT_EQ(database_->write("PRAGMA synchronous")->rows[0].integer(0), 2);
  EXPECT_EQ(database_->read("SELECT COUNT(*) FROM things")->rows[0].integer(0), 1);
}

TEST_P(SqliteTest, AReadCannotWrite) { EXPECT_FALSE(database_->read("DELETE FROM things")); }

TEST_P(SqliteTest, ALinkInPlaceOfTheFileIsRefused) {
  ScratchDirectory other;
  const std::string link = other.path() + "/link.db";
  ASSERT_EQ(::symlink((directory_.path() + "/test.db").c_str(), link.c_str()), 0);
  SqliteOptions options;
  options.path = link;
  EXPECT_FALSE(open_sqlite(options));
}

class PostgresTest : public DatabaseTest {};
INSTANTIATE_TEST_SUITE_P(Engines, PostgresTest, testing::Values(DatabaseKind::kPostgres), engine_name);

TEST_P(PostgresTest, ALostServerIsFoundAgain) {
  ASSERT_TRUE(add(1, "a"));
  const auto kill_all = [] {
    PostgresServer::get()->run(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
        "AND application_name = 'belljar'");
  };
  kill_all();
  EXPECT_TRUE(add(2, "b"));
  kill_all();
  EXPECT_EQ(count(), 2);
  kill_all();
  int attempts = 0;
  const auto done = database_->transact([&](Transaction& transaction) -> Result<void> {
    BJ_CHECK(transaction.run("INSERT INTO things (id) VALUES (3)"));
    if (attempts++ == 0) kill_all();  // in the middle: nothing is committed, so it is done again
    BJ_CHECK(transaction.run("INSERT INTO things (id) VALUES (4)"));
    return {};
  });
  EXPECT_TRUE(done) << done.error().what;
  EXPECT_EQ(attempts, 2);
  EXPECT_EQ(count(), 4);
}

TEST_P(PostgresTest, ADeadlockIsTriedAgain) {
  ASSERT_TRUE(add(1, "a"));
  ASSERT_TRUE(add(2, "b"));
  std::barrier both(2);
  std::atomic<int> attempts = 0;
  const auto cross = [&](int64_t first, int64_t second) {
    bool met = false;
    return database_->transact([&, first, second](Transaction& transaction) -> Result<void> {
      attempts++;
      BJ_CHECK(transaction.run("UPDATE things SET weight = 1 WHERE id = $1", {first}));
      if (!std::exchange(met, true)) both.arrive_and_wait();
      BJ_CHECK(transaction.run("UPDATE things SET weight = 2 WHERE id = $1", {second}));
      return {};
    });
  };
  std::optional<Result<void>> other;
  std::thread thread([&] { other = cross(2, 1); });
  const auto mine = cross(1, 2);
  thread.join();
  EXPECT_TRUE(mine) << mine.error().what;
  EXPECT_TRUE(*other) << other->error().what;
  EXPECT_GT(attempts, 2);
}

TEST_P(PostgresTest, AStatementThatTakesTooLongIsStopped) {
  PostgresOptions options;
  options.url = url_;
  options.statement_timeout_ms = 200;
  const auto database = open_postgres(options);
  EXPECT_EQ((*database)->read("SELECT pg_sleep(20)").error().code, Code::kUnavailable);
}

TEST_P(PostgresTest, NoServerIsUnavailableAndTheUrlIsNotRepeated) {
  PostgresOptions options;
  options.url = "postgresql://somebody:hunter2@localhost/x?host=" + directory_.path();
  const auto database = open_postgres(options);
  ASSERT_FALSE(database);
  EXPECT_EQ(database.error().code, Code::kUnavailable);
  EXPECT_EQ(database.error().what.find("hunter2"), std::string::npos);
}

}  // namespace
}  // namespace bj
