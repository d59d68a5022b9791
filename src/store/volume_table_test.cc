#include "store/volume_table.h"

#include <gtest/gtest.h>

#include "base/compact_id.h"
#include "store/quota.h"
#include "store/sandbox_table.h"
#include "store/store_test_support.h"

namespace bj {
namespace {

struct VolumeTableTest : StoreTest {
  static VolumeRow row(const std::string& name, const std::string& organization = kDefaultOrganization) {
    VolumeRow row;
    row.id = new_compact_id("vol");
    row.organization = organization;
    row.name = name;
    row.size_bytes = 100;
    row.machine = "here";
    row.created_at = 7;
    return row;
  }
  static Result<SandboxTable::Made> make_sandbox(Store& store, const std::string& volume) {
    SandboxRow sandbox;
    sandbox.id = new_compact_id("sb");
    sandbox.organization = kDefaultOrganization;
    sandbox.template_name = "base";
    sandbox.state = "running";
    sandbox.options = "{\"volumes\":[{\"id\":\"" + volume + "\"}]}";
    CommandRow command;
    command.organization = sandbox.organization;
    command.kind = "create";
    command.subject = sandbox.id;
    Actor actor;
    actor.organization = sandbox.organization;
    return SandboxTable(store.database(), store.vault()).create(actor, sandbox, {}, {}, {}, {}, command, {volume});
  }
};

TEST_P(VolumeTableTest, AVolumeIsFoundOnceItIsReadyAndOnlyByItsOrganization) {
  const auto store = open();
  VolumeTable volumes(store->database());
  const VolumeRow made = row("data");
  ASSERT_TRUE(volumes.create(made, {}));
  EXPECT_EQ(volumes.get(kDefaultOrganization, made.id).error().code, Code::kNotFound);
  EXPECT_EQ(volumes.unfinished("here")->size(), 1u);
  EXPECT_EQ(volumes.unfinished("elsewhere")->size(), 0u);
  ASSERT_TRUE(volumes.set_ready(made.id));
  EXPECT_EQ(volumes.get(kDefaultOrganization, made.id)->name, "data");
  EXPECT_EQ(volumes.find(kDefaultOrganization, "data")->id, made.id);
  EXPECT_EQ(volumes.list(kDefaultOrganization, {})->size(), 1u);
  EXPECT_EQ(volumes.get("org-other", made.id).error().code, Code::kNotFound);
  EXPECT_EQ(volumes.find("org-other", "data").error().code, Code::kNotFound);
  EXPECT_EQ(volumes.unfinished("here")->size(), 0u);
}

TEST_P(VolumeTableTest, ANameIsTakenOnceAndSharesAreKept) {
  const auto store = open();
  VolumeTable volumes(store->database());
  ASSERT_TRUE(volumes.create(row("data"), {2, 250}));
  EXPECT_EQ(volumes.create(row("data"), {}).error().code, Code::kConflict);
  ASSERT_TRUE(volumes.create(row("more"), {2, 250}));
  EXPECT_TRUE(is_over_quota(volumes.create(row("third"), {2, 0}).error()));
  EXPECT_TRUE(is_over_quota(volumes.create(row("third"), {0, 250}).error()));
  EXPECT_EQ(volumes.create(row("third"), {0, 99}).error().code, Code::kUnprocessable);
  EXPECT_TRUE(volumes.create(row("third"), {0, 300}));
}

TEST_P(VolumeTableTest, OneThatASandboxHasIsNotRemovedAndOneThatIsRemovedIsGivenToNone) {
  const auto store = open();
  VolumeTable volumes(store->database());
  const VolumeRow made = row("data");
  ASSERT_TRUE(volumes.create(made, {}));
  ASSERT_TRUE(volumes.set_ready(made.id));
  const auto sandbox = make_sandbox(*store, made.id);
  ASSERT_TRUE(sandbox);
  EXPECT_EQ(volumes.begin_removal(kDefaultOrganization, made.id).error().code, Code::kConflict);
  SandboxTable sandboxes(store->database(), store->vault());
  ASSERT_TRUE(
      sandboxes.change(kDefaultOrganization, sandbox->row.id, [](Transaction&, SandboxRow& changed) -> Result<void> {
        changed.state = "stopped";
        changed.kept = true;
        return {};
      }));
  EXPECT_EQ(volumes.begin_removal(kDefaultOrganization, made.id).error().code, Code::kConflict) << "it can be started";
  ASSERT_TRUE(
      sandboxes.change(kDefaultOrganization, sandbox->row.id, [](Transaction&, SandboxRow& changed) -> Result<void> {
        changed.kept = false;
        return {};
      }));
  EXPECT_EQ(volumes.begin_removal("org-other", made.id).error().code, Code::kNotFound);
  ASSERT_TRUE(volumes.begin_removal(kDefaultOrganization, made.id));
  EXPECT_EQ(make_sandbox(*store, made.id).error().code, Code::kDangling);
  EXPECT_EQ(volumes.unfinished("here")->size(), 1u);
  ASSERT_TRUE(volumes.forget(made.id));
  EXPECT_EQ(volumes.unfinished("here")->size(), 0u);
}

BJ_ON_BOTH_ENGINES(VolumeTableTest);

}  // namespace
}  // namespace bj
