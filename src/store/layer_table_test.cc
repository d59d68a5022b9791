#include "store/layer_table.h"

#include "store/quota.h"
#include "store/store_test_support.h"
#include "store/template_table.h"

namespace bj {
namespace {

class LayerTableTest : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    if (IsSkipped()) return;
    store_ = open();
    table_ = std::make_unique<LayerTable>(store_->database());
    other_ = new_actor(*store_);
  }
  Result<void> insert(const std::string& id, int64_t size, int64_t most = 0, const Actor& actor = Actor()) {
    return store_->database().transact([&](Transaction& transaction) {
      return LayerTable::insert(transaction, {id, actor.organization, size, 1}, most);
    });
  }
  Result<void> use(const std::string& user, const std::vector<std::string>& layers) {
    return store_->database().transact(
        [&](Transaction& transaction) { return LayerTable::set_uses(transaction, user, layers); });
  }

  std::unique_ptr<Store> store_;
  std::unique_ptr<LayerTable> table_;
  Actor other_;
};

TEST_P(LayerTableTest, WhatSomebodyUsesIsNotForgotten) {
  ASSERT_TRUE(insert("ly1", 10) && insert("ly2", 20));
  ASSERT_TRUE(use("sb1", {"ly1", "ly2"}) && use("build/b", {"ly1"}));
  EXPECT_TRUE(table_->forget_unused(std::nullopt)->empty());
  ASSERT_TRUE(use("sb1", {}));
  EXPECT_EQ(*table_->forget_unused(std::vector<std::string>{"ly1", "ly2"}), std::vector<std::string>{"ly2"});
  EXPECT_EQ(*table_->all(), std::vector<std::string>{"ly1"});
  EXPECT_TRUE(table_->forget_unused(std::vector<std::string>())->empty());
}

TEST_P(LayerTableTest, WhatWasForgottenCantBeUsedAgain) {
  ASSERT_TRUE(insert("ly1", 10));
  EXPECT_EQ(table_->forget_unused(std::nullopt)->size(), 1u);
  const Result<void> late = use("sb1", {"ly1"});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Code::kConflict);
}

TEST_P(LayerTableTest, AnOrganizationStoresSoMuchAndNoMore) {
  ASSERT_TRUE(insert("ly1", 60, 100));
  const Result<void> more = insert("ly2", 41, 100);
  ASSERT_FALSE(more);
  EXPECT_TRUE(is_over_quota(more.error()));
  EXPECT_EQ(insert("ly2", 101, 100).error().code, Code::kUnprocessable);
  EXPECT_TRUE(insert("ly3", 40, 100));
  EXPECT_TRUE(insert("ly4", 90, 100, other_));
  EXPECT_EQ(*table_->stored_bytes(Actor().organization), 100);
  EXPECT_EQ(*table_->stored_bytes(other_.organization), 90);
  EXPECT_EQ(table_->sizes({"ly1", "ly4", "none"})->at("ly1"), 60);
  EXPECT_EQ(table_->sizes({"ly1", "ly4", "none"})->size(), 2u);
}

TEST_P(LayerTableTest, WhatIsGoneUsesNothingWhateverACrashHasLeft) {
  ASSERT_TRUE(insert("ly1", 1) && insert("ly2", 1) && insert("ly3", 1));
  ASSERT_TRUE(use("sbdeleted", {"ly1"}) && use("build/gone", {"ly2"}) && use("cmdover", {"ly3"}));
  EXPECT_TRUE(table_->forget_unused(std::nullopt)->empty());
  ASSERT_TRUE(table_->release_left_over());
  EXPECT_EQ(table_->forget_unused(std::nullopt)->size(), 3u);
}

BJ_ON_BOTH_ENGINES(LayerTableTest);

}  // namespace
}  // namespace bj
