#include "store/template_table.h"

#include "base/id.h"
#include "store/store_test_support.h"
#include "store/template_build_table.h"

namespace bj {
namespace {

class TemplateTableTest : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    if (IsSkipped()) return;
    store_ = open();
    table_ = std::make_unique<TemplateTable>(store_->database());
    builds_ = std::make_unique<TemplateBuildTable>(store_->database());
    other_ = new_actor(*store_);
  }

  static TemplateRow row() {
    TemplateRow row;
    row.id = new_uuid4();
    row.created_at = row.updated_at = ++clock_;
    return row;
  }
  static TemplateBuildRow build() {
    TemplateBuildRow build;
    build.id = new_uuid4();
    build.created_at = build.updated_at = ++clock_;
    return build;
  }
  TemplateTable::Made add(const Actor& actor, const std::string& name) {
    auto made = table_->add_build(actor, name, row(), build());
    EXPECT_TRUE(made) << made.error().what;
    return *made;
  }

  static inline int64_t clock_ = 1000;
  std::unique_ptr<Store> store_;
  std::unique_ptr<TemplateTable> table_;
  std::unique_ptr<TemplateBuildTable> builds_;
  Actor mine_, other_;
};

TEST_P(TemplateTableTest, ASecondBuildOfANameIsOfTheSameTemplate) {
  const auto first = add(mine_, "tool");
  const auto second = add(mine_, "tool");
  EXPECT_EQ(first.row.id, second.row.id);
  EXPECT_NE(first.build.id, second.build.id);
  const auto view = table_->get(mine_.organization, first.row.id);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->names, std::vector<std::string>{"tool"});
  EXPECT_EQ(view->builds, 2);
  EXPECT_EQ(view->newest->id, second.build.id);
}

TEST_P(TemplateTableTest, TheSameNameIsFreeInAnotherOrganizationAndItsRowsAreNotFound) {
  const auto first = add(mine_, "tool");
  const auto second = add(other_, "tool");
  EXPECT_NE(first.row.id, second.row.id);
  EXPECT_FALSE(table_->get(other_.organization, first.row.id));
  EXPECT_FALSE(table_->remove(other_.organization, first.row.id));
  EXPECT_FALSE(table_->set_public(other_.organization, first.row.id, true));
  EXPECT_FALSE(*table_->find_public(first.row.id));
  ASSERT_TRUE(table_->set_public(mine_.organization, first.row.id, true));
  EXPECT_TRUE(*table_->find_public(first.row.id));
}

TEST_P(TemplateTableTest, ASnapshotCantTakeATemplatesName) {
  add(mine_, "tool");
  TemplateRow snapshot = row();
  snapshot.kind = "snapshot";
  const auto made = table_->add_ready(mine_, "tool", snapshot, build(), {"default"});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, Code::kConflict);
}

TEST_P(TemplateTableTest, ABuildBeginsOnceAndItsTagsMeanItWhenItIsReady) {
  const auto made = add(mine_, "tool");
  EXPECT_FALSE(*builds_->of_tag(made.row.id, "v1"));
  ASSERT_TRUE(builds_->begin(made.row.id, made.build.id, "node", "{}", 1));
  EXPECT_EQ(builds_->begin(made.row.id, made.build.id, "node", "{}", 1).error().code, Code::kConflict);
  ASSERT_TRUE(builds_->succeed(made.build.id, "{}", {"v1", "default"}, {}, 2));
  EXPECT_EQ((*builds_->of_tag(made.row.id, "v1"))->id, made.build.id);
  EXPECT_FALSE(builds_->succeed(made.build.id, "{}", {}, {}, 3));
  const auto next = add(mine_, "tool");
  ASSERT_TRUE(builds_->begin(next.row.id, next.build.id, "node", "{}", 4));
  ASSERT_TRUE(builds_->succeed(next.build.id, "{}", {"default"}, {}, 5));
  EXPECT_EQ((*builds_->of_tag(made.row.id, "v1"))->id, made.build.id);
  EXPECT_EQ((*builds_->of_tag(made.row.id, "default"))->id, next.build.id);
  EXPECT_EQ(*table_->remove_tags(made.row.id, {"v1", "none"}), 1);
  EXPECT_EQ(table_->tags(made.row.id)->size(), 1u);
}

TEST_P(TemplateTableTest, AFailureKeepsItsStepAndNothingFollowsIt) {
  const auto made = add(mine_, "tool");
  ASSERT_TRUE(builds_->begin(made.row.id, made.build.id, "node", "{}", 1));
  EXPECT_EQ(builds_->building()->size(), 1u);
  ASSERT_TRUE(builds_->fail_with(made.build.id, "2", "no such command", 2));
  EXPECT_TRUE(builds_->building()->empty());
  const auto row = builds_->get(made.row.id, made.build.id);
  EXPECT_EQ(row->status, "error");
  EXPECT_EQ(row->reason_step, "2");
  EXPECT_FALSE(builds_->succeed(made.build.id, "{}", {}, {}, 3));
}

TEST_P(TemplateTableTest, LogsAreReadFromAnyPlaceAndGoWithTheirTemplate) {
  const auto made = add(mine_, "tool");
  ASSERT_TRUE(builds_->add_logs(made.build.id, {{0, 1, "info", "base", "a"}, {1, 2, "info", "1", "b"}}));
  ASSERT_TRUE(builds_->add_logs(made.build.id, {{2, 3, "error", "1", "c"}}));
  EXPECT_EQ(builds_->logs(made.build.id, 1, 100)->size(), 2u);
  EXPECT_EQ(builds_->logs(made.build.id, 0, 1)->front().message, "a");
  ASSERT_TRUE(table_->remove(mine_.organization, made.row.id));
  EXPECT_TRUE(builds_->logs(made.build.id, 0, 100)->empty());
  EXPECT_FALSE(*builds_->find(made.build.id));
}

TEST_P(TemplateTableTest, CachedStepsAreTheOrganizationsOwn) {
  ASSERT_TRUE(builds_->cache(mine_.organization, "abc", "one", {}, 1));
  EXPECT_EQ(builds_->cached(mine_.organization, "abc", 5)->value(), "one");
  EXPECT_FALSE(*builds_->cached(other_.organization, "abc", 5));
  EXPECT_EQ(*builds_->drop_cache(5), 0);
  EXPECT_EQ(*builds_->drop_cache(6), 1);
  EXPECT_FALSE(*builds_->cached(mine_.organization, "abc", 7));
}

BJ_ON_BOTH_ENGINES(TemplateTableTest);

}  // namespace
}  // namespace bj
