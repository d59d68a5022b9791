#include "store/command_table.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "base/compact_id.h"
#include "store/sandbox_table.h"
#include "store/store_test_support.h"

namespace bj {
namespace {

// The tables of one store.
struct Tables {
  Database& database;
  SandboxTable sandboxes;
  CommandTable commands;
};

struct CommandTableTest : StoreTest {
  static std::unique_ptr<Tables> tables_of(Store& store) {
    Database& database = store.database();
    return std::make_unique<Tables>(Tables{database, SandboxTable(database, store.vault()), CommandTable(database)});
  }
  // A sandbox to send commands to.
  static std::string sandbox(Tables& store) {
    SandboxRow row;
    row.id = new_compact_id("sb");
    row.organization = kDefaultOrganization;
    row.template_name = "base";
    row.state = "creating";
    CommandRow command = command_for(row.id, "create");
    EXPECT_TRUE(store.sandboxes.create(Actor(), row, {}, {}, {}, {}, command));
    return row.id;
  }
  static CommandRow command_for(const std::string& id, const std::string& kind) {
    CommandRow command;
    command.organization = kDefaultOrganization;
    command.kind = kind;
    command.subject = id;
    return command;
  }
  static std::string put(Tables& store, CommandRow command) {
    std::string id;
    EXPECT_TRUE(store.database.transact([&](Transaction& transaction) -> Result<void> {
      BJ_TRY(const CommandRow made, CommandTable::insert(transaction, command));
      id = made.id;
      return {};
    }));
    return id;
  }
};

TEST_P(CommandTableTest, ACommandIsClaimedOnceUntilItsLeaseIsOver) {
  const auto store = open();
  const auto tables = tables_of(*store);
  sandbox(*tables);
  const auto first = tables->commands.claim("worker-1", "node", 100, 50);
  ASSERT_TRUE(first && *first);
  EXPECT_EQ((*first)->kind, "create");
  EXPECT_EQ((*first)->attempts, 1);
  EXPECT_FALSE(tables->commands.claim("worker-2", "node", 149, 50)->has_value());
  EXPECT_FALSE(tables->commands.claim("worker-1", "node", 150, 50)->has_value());  // he is still at it
  const auto second = tables->commands.claim("worker-2", "node", 150, 50);
  ASSERT_TRUE(second && *second);
  EXPECT_EQ((*second)->attempts, 2);
  // Who lost his claim can't end the command any more.
  EXPECT_EQ(tables->commands.finish({(*first)->id, "worker-1"}, "{}", 160).error().code, Code::kConflict);
  EXPECT_TRUE(tables->commands.finish({(*first)->id, "worker-2"}, "{}", 160));
  EXPECT_EQ(tables->commands.get((*first)->id)->state, "done");
  EXPECT_EQ(tables->commands.finish({(*first)->id, "worker-2"}, "{}", 160).error().code, Code::kConflict);
}

TEST_P(CommandTableTest, ManyWorkersNeverGetTheSameCommand) {
  const auto store = open();
  const auto tables = tables_of(*store);
  const std::string id = sandbox(*tables);
  for (int i = 0; i < 39; ++i) put(*tables, command_for(id, "pause"));
  std::mutex mutex;
  std::multiset<std::string> taken;
  const auto work = [&](int n) {
    for (;;) {
      const auto got = tables->commands.claim("worker-" + std::to_string(n), "node", 100, 1000);
      ASSERT_TRUE(got) << got.error().what;
      if (!*got) return;
      const std::lock_guard lock(mutex);
      taken.insert((*got)->id);
    }
  };
  std::vector<std::thread> threads;
  for (int n = 0; n < 4; ++n) threads.emplace_back(work, n);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(taken.size(), 40u);
  EXPECT_EQ(std::set<std::string>(taken.begin(), taken.end()).size(), 40u);
}

TEST_P(CommandTableTest, WhatFailedIsTriedAgainWhenItsTimeHasCome) {
  const auto store = open();
  const auto tables = tables_of(*store);
  sandbox(*tables);
  const std::string id = (*tables->commands.claim("w", "node", 100, 50))->id;
  ASSERT_TRUE(tables->commands.retry({id, "w"}, "no room", 500));
  EXPECT_FALSE(tables->commands.claim("w", "node", 499, 50)->has_value());
  const auto again = tables->commands.claim("w", "node", 500, 50);
  ASSERT_TRUE(again && *again);
  EXPECT_EQ((*again)->outcome, "no room");
  ASSERT_TRUE(tables->commands.bury({id, "w"}, "never again", 600));
  EXPECT_FALSE(tables->commands.claim("w", "node", 9000, 50)->has_value());
  const auto dead = tables->commands.dead(kDefaultOrganization, 10);
  ASSERT_EQ(dead->size(), 1u);
  EXPECT_EQ((*dead)[0].outcome, "never again");
  EXPECT_TRUE(tables->commands.dead("org-other", 10)->empty());
}

TEST_P(CommandTableTest, ACommandForANodeWaitsForThatNode) {
  const auto store = open();
  const auto tables = tables_of(*store);
  const std::string id = sandbox(*tables);
  ASSERT_TRUE(*tables->commands.claim("w", "any", 100, 50));
  CommandRow command = command_for(id, "pause");
  command.node = "node-2";
  put(*tables, command);
  EXPECT_FALSE(tables->commands.claim("w", "node-1", 100, 50)->has_value());
  EXPECT_TRUE(tables->commands.claim("w", "node-2", 100, 50)->has_value());
}

TEST_P(CommandTableTest, AnIdempotencyKeyIsUsedOnceByAnOrganization) {
  const auto store = open();
  const auto tables = tables_of(*store);
  const std::string id = sandbox(*tables);
  CommandRow command = command_for(id, "pause");
  command.idempotency_key = "once";
  const std::string first = put(*tables, command);
  const auto second = tables->database.transact([&](Transaction& transaction) -> Result<void> {
    BJ_TRY(const auto found, CommandTable::find_by_key(transaction, kDefaultOrganization, "once"));
    EXPECT_EQ(found->id, first);
    BJ_CHECK(CommandTable::insert(transaction, command));
    return {};
  });
  EXPECT_EQ(second.error().code, Code::kConflict);
}

BJ_ON_BOTH_ENGINES(CommandTableTest);

}  // namespace
}  // namespace bj
