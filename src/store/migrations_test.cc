#include "store/migrations.h"

#include <gtest/gtest.h>

#include <thread>

#include "store/store_test_support.h"

namespace bj {
namespace {

using MigrationsTest = StoreTest;

TEST_P(MigrationsTest, OpeningAgainChangesNothing) {
  const auto tool_count = [](Store& store) { return *store.tools().count(kDefaultOrganization, {}); };
  {
    const auto store = open();
    ToolRow tool;
    tool.name = "t";
    ASSERT_TRUE(store->tools().upsert({}, tool));
  }
  const auto store = open();
  EXPECT_EQ(tool_count(*store), 1);
  EXPECT_EQ(store->organizations().list()->size(), 1u);
  EXPECT_EQ(store->organizations().get(kDefaultOrganization)->id, kDefaultOrganization);
  EXPECT_EQ((*store->users().find(kDefaultUser))->organization, kDefaultOrganization);
}

TEST_P(MigrationsTest, ADatabaseOfANewerBelljarIsRefused) {
  {
    const auto store = open();
    ASSERT_TRUE(
        store->database().write("INSERT INTO schema_migrations (version, name, applied_at) VALUES (99, 'x', 0)"));
  }
  const auto refused = Store::open(options());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kInvalid);
  EXPECT_NE(refused.error().what.find("newer"), std::string::npos) << refused.error().what;
}

TEST_P(MigrationsTest, ALaterStepIsTakenOnceAndAFailingOneLeavesNothing) {
  const auto store = open();
  std::vector<Migration> steps = migrations();
  steps.push_back({100,
                   "one more",
                   {"CREATE TABLE extra (id BIGINT PRIMARY KEY, name TEXT)", "INSERT INTO extra (id) VALUES (1)"}});
  ASSERT_TRUE(migrate(store->database(), steps));
  ASSERT_TRUE(migrate(store->database(), steps));
  EXPECT_EQ(store->database().read("SELECT COUNT(*) FROM extra")->rows[0].integer(0), 1);
  steps.push_back({101, "broken", {"CREATE TABLE half (id BIGINT)", "NONSENSE"}});
  EXPECT_FALSE(migrate(store->database(), steps));
  EXPECT_FALSE(store->database().read("SELECT * FROM half"));
  EXPECT_EQ(store->database().read("SELECT MAX(version) FROM schema_migrations")->rows[0].integer(0), 100);
}

TEST_P(MigrationsTest, ProcessesThatStartAtOnceAllSucceed) {
  std::vector<std::unique_ptr<ChildProcess>> children;
  for (int i = 0; i < 4; i++) {
    children.push_back(std::make_unique<ChildProcess>([&] {
      const auto store = Store::open(options());
      ::_exit(store ? 0 : 1);
    }));
  }
  for (auto& child : children) EXPECT_EQ(child->wait(), 0);
  const auto store = open();
  EXPECT_EQ(store->users().list(kDefaultOrganization)->size(), 1u);
}

BJ_ON_BOTH_ENGINES(MigrationsTest);

}  // namespace
}  // namespace bj
