#include "store/sandbox_table.h"

#include <gtest/gtest.h>

#include "base/compact_id.h"
#include "store/store_test_support.h"

namespace bj {
namespace {

// The tables of one store.
struct Tables {
  Database& database;
  SandboxTable sandboxes;
};

struct SandboxTableTest : StoreTest {
  static std::unique_ptr<Tables> tables_of(Store& store) {
    return std::make_unique<Tables>(Tables{store.database(), SandboxTable(store.database(), store.vault())});
  }
  using Metadata = std::map<std::string, std::string>;

  static SandboxRow row(const std::string& organization = kDefaultOrganization) {
    SandboxRow row;
    row.id = new_compact_id("sb");
    row.organization = organization;
    row.template_name = "base";
    row.state = "creating";
    row.node = "here";
    row.cpus = 1.5;
    row.memory_bytes = 512 << 20;
    row.disk_bytes = 256 << 20;
    row.created_at = ++clock();
    return row;
  }
  static int64_t& clock() {
    static int64_t now = 1000;
    return now;
  }
  static Result<SandboxTable::Made> make(Tables& store, const SandboxRow& row, const SandboxShare& quota = {},
                                         const Metadata& metadata = {}, const std::string& key = "") {
    CommandRow command;
    command.organization = row.organization;
    command.kind = "create";
    command.subject = row.id;
    if (!key.empty()) command.idempotency_key = key;
    Actor actor;
    actor.organization = row.organization;
    std::vector<NewVariable> variables;
    variables.push_back({"TOKEN", Secret("s3cret"), {}});
    return store.sandboxes.create(actor, row, metadata, variables, {}, quota, command);
  }
};

TEST_P(SandboxTableTest, WhatWasMadeIsReadBackAndItsVariablesAreEncrypted) {
  const auto store = open();
  const auto tables = tables_of(*store);
  const SandboxRow made = row();
  ASSERT_TRUE(make(*tables, made));
  const auto found = tables->sandboxes.get(kDefaultOrganization, made.id);
  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(found->cpus, 1.5);
  EXPECT_EQ(found->node, "here");
  EXPECT_FALSE(found->started_at);
  const auto variables = tables->sandboxes.variables(kDefaultOrganization, made.id);
  ASSERT_EQ(variables->size(), 1u);
  EXPECT_EQ((*variables)[0].value.reveal(), "s3cret");
  EXPECT_EQ((*variables)[0].value_enc->find("s3cret"), std::string::npos);
}

TEST_P(SandboxTableTest, AnotherOrganizationsSandboxDoesNotExist) {
  const auto store = open();
  const auto tables = tables_of(*store);
  const Actor theirs = new_actor(*store);
  const SandboxRow made = row(theirs.organization);
  ASSERT_TRUE(make(*tables, made));
  SandboxTable& table = tables->sandboxes;
  EXPECT_EQ(table.get(kDefaultOrganization, made.id).error().code, Code::kNotFound);
  EXPECT_TRUE(table.variables(kDefaultOrganization, made.id)->empty());
  EXPECT_TRUE(table.list(kDefaultOrganization, {}, {})->empty());
  const auto edit = [](Transaction&, SandboxRow& r) -> Result<void> {
    r.state = "stopped";
    return {};
  };
  EXPECT_EQ(table.change(kDefaultOrganization, made.id, edit).error().code, Code::kNotFound);
  EXPECT_TRUE(table.get(theirs.organization, made.id));
}

TEST_P(SandboxTableTest, AQuotaIsWhatLiveSandboxesHaveTogether) {
  const auto store = open();
  const auto tables = tables_of(*store);
  const SandboxRow first = row();
  ASSERT_TRUE(make(*tables, first, {2, 0, 0, 0}));
  ASSERT_TRUE(make(*tables, row(), {2, 0, 0, 0}));
  EXPECT_TRUE(is_over_quota(make(*tables, row(), {2, 0, 0, 0}).error()));
  EXPECT_TRUE(is_over_quota(make(*tables, row(), {0, 4, 0, 0}).error()));
  EXPECT_TRUE(is_over_quota(make(*tables, row(), {0, 0, 1 << 30, 0}).error()));
  EXPECT_TRUE(is_over_quota(make(*tables, row(), {0, 0, 0, 600 << 20}).error()));
  // What alone is more than there may be is wrong however much is stopped.
  EXPECT_EQ(make(*tables, row(), {0, 1, 0, 0}).error().code, Code::kUnprocessable);
  EXPECT_EQ(make(*tables, row(), {0, 0, 500 << 20, 0}).error().code, Code::kUnprocessable);
  EXPECT_EQ(make(*tables, row(), {0, 0, 0, 200 << 20}).error().code, Code::kUnprocessable);
  EXPECT_EQ(tables->sandboxes.used(kDefaultOrganization)->live, 2);
  const auto stop = [](Transaction&, SandboxRow& r) -> Result<void> {
    r.state = "stopped";
    r.ended_at = 5;
    return {};
  };
  ASSERT_TRUE(tables->sandboxes.change(kDefaultOrganization, first.id, stop));
  EXPECT_TRUE(make(*tables, row(), {2, 3, 1 << 30, 512 << 20}));
}

TEST_P(SandboxTableTest, ACreateThatIsRepeatedWithItsKeyIsTheFirstOne) {
  const auto store = open();
  const auto tables = tables_of(*store);
  const SandboxRow first = row();
  ASSERT_FALSE(make(*tables, first, {}, {}, "k")->first);
  const auto second = make(*tables, row(), {}, {}, "k");
  ASSERT_TRUE(second) << second.error().what;
  EXPECT_TRUE(second->first);
  EXPECT_EQ(second->row.id, first.id);
  const Actor theirs = new_actor(*store);
  EXPECT_FALSE(make(*tables, row(theirs.organization), {}, {}, "k")->first);
}

TEST_P(SandboxTableTest, AnEditThatFailsChangesNothing) {
  const auto store = open();
  const auto tables = tables_of(*store);
  const SandboxRow made = row();
  ASSERT_TRUE(make(*tables, made));
  const auto refuse = [](Transaction&, SandboxRow& r) -> Result<void> {
    r.state = "running";
    return fail(Code::kConflict, "not now");
  };
  EXPECT_EQ(tables->sandboxes.change(kDefaultOrganization, made.id, refuse).error().code, Code::kConflict);
  EXPECT_EQ(tables->sandboxes.get(kDefaultOrganization, made.id)->state, "creating");
}

TEST_P(SandboxTableTest, ListsAreFilteredByStateTemplateAndMetadata) {
  const auto store = open();
  const auto tables = tables_of(*store);
  const SandboxRow a = row();
  SandboxRow b = row();
  b.state = "running";
  b.template_name = "other:v1";
  ASSERT_TRUE(make(*tables, a, {}, {{"team", "red"}, {"n", "1"}}));
  ASSERT_TRUE(make(*tables, b, {}, {{"team", "red"}}));
  const auto ids = [&](const SandboxFilter& filter) {
    std::vector<std::string> found;
    const auto rows = tables->sandboxes.list(kDefaultOrganization, filter, {});
    for (const SandboxRow& r : *rows) found.push_back(r.id);
    return found;
  };
  using Ids = std::vector<std::string>;
  EXPECT_EQ(ids({}), (Ids{a.id, b.id}));
  EXPECT_EQ(ids({{"running"}, false, {}, {}, {}}), (Ids{b.id}));
  EXPECT_EQ(ids({{}, false, {"other"}, {}, {}}), (Ids{b.id}));  // with whatever tag
  EXPECT_EQ(ids({{}, false, {"other:v1"}, {}, {}}), (Ids{b.id}));
  EXPECT_EQ(ids({{}, false, {"oth", "other:v"}, {}, {}}), Ids{});
  EXPECT_EQ(ids({{}, false, {"base", "other"}, {}, {}}), (Ids{a.id, b.id}));
  EXPECT_EQ(ids({{}, false, {}, {{"team", "red"}}, {}}), (Ids{a.id, b.id}));
  EXPECT_EQ(ids({{}, false, {}, {{"team", "red"}, {"n", "1"}}, {}}), (Ids{a.id}));
  EXPECT_EQ(ids({{}, false, {}, {{"team", "blue"}}, {}}), Ids{});
  EXPECT_EQ(ids({{}, false, {}, {}, b.created_at}), (Ids{b.id}));
}

TEST_P(SandboxTableTest, DeletedOnesAreHiddenAndOldOnesGo) {
  const auto store = open();
  const auto tables = tables_of(*store);
  const SandboxRow made = row();
  ASSERT_TRUE(make(*tables, made));
  ASSERT_EQ(tables->sandboxes.held()->size(), 1u);
  const auto remove = [](Transaction&, SandboxRow& r) -> Result<void> {
    r.state = "deleted";
    r.ended_at = 50;
    return {};
  };
  ASSERT_TRUE(tables->sandboxes.change(kDefaultOrganization, made.id, remove));
  EXPECT_EQ(tables->sandboxes.get(kDefaultOrganization, made.id).error().code, Code::kNotFound);
  EXPECT_TRUE(tables->sandboxes.list(kDefaultOrganization, {}, {})->empty());
  EXPECT_TRUE(tables->sandboxes.held()->empty());
  const SandboxRow another = row();
  ASSERT_TRUE(make(*tables, another));
  ASSERT_TRUE(tables->sandboxes.change(kDefaultOrganization, another.id, remove));
  EXPECT_EQ(*tables->sandboxes.remove_ended_before(50, 10), 0);
  EXPECT_EQ(*tables->sandboxes.remove_ended_before(51, 1), 1);
  EXPECT_EQ(*tables->sandboxes.remove_ended_before(51, 10), 1);
  EXPECT_EQ(*tables->sandboxes.remove_ended_before(51, 10), 0);
}

TEST_P(SandboxTableTest, WhatAServerLeftEndsWithItAndWhatItWasMakingIsAnybodys) {
  const auto store = open();
  const auto tables = tables_of(*store);
  SandboxRow lived = row(), making = row(), elsewhere = row(), leaving = row();
  lived.state = elsewhere.state = "running";
  leaving.state = "stopping";
  lived.end_at = 1000;
  lived.cpus = 2;  // a whole number, which engines like to make an integer of
  elsewhere.node = "there";
  for (const SandboxRow& one : {lived, making, elsewhere, leaving}) ASSERT_TRUE(make(*tables, one));
  CommandTable commands(tables->database);
  ASSERT_TRUE(tables->database.write("UPDATE sandbox_commands SET kind = 'delete' WHERE subject = $1", {leaving.id}));
  ASSERT_TRUE(
      tables->database.write("UPDATE sandbox_commands SET state = 'claimed', claimed_by = 'here', lease_until = 9000"));
  ASSERT_TRUE(tables->database.write("UPDATE sandbox_commands SET state = 'done' WHERE subject = $1", {elsewhere.id}));
  const auto ended = tables->sandboxes.abandon("here", "gone", 77);
  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->size(), 2u);
  const auto now = tables->sandboxes.get(kDefaultOrganization, lived.id);
  EXPECT_EQ(now->state, "stopped");
  EXPECT_EQ(now->reason, "gone");
  EXPECT_EQ(now->ended_at, 77);
  EXPECT_EQ(tables->sandboxes.get(kDefaultOrganization, leaving.id).error().code, Code::kNotFound);
  EXPECT_EQ(tables->sandboxes.get(kDefaultOrganization, elsewhere.id)->state, "running");
  EXPECT_FALSE(tables->sandboxes.get(kDefaultOrganization, making.id)->node);
  const auto next = commands.claim("other", "other", 100, 50);  // long before the lease is over
  ASSERT_TRUE(next && *next);
  EXPECT_EQ((*next)->subject, making.id);
  EXPECT_EQ(commands.dead(kDefaultOrganization, 10)->size(), 1u);
  const auto deletions = tables->database.read("SELECT state FROM sandbox_commands WHERE kind = 'delete'");
  EXPECT_EQ(deletions->rows.at(0).text(0), "done") << "it is deleted, whoever has done it";
}

BJ_ON_BOTH_ENGINES(SandboxTableTest);

}  // namespace
}  // namespace bj
