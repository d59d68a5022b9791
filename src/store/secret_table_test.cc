#include "store/secret_table.h"

#include <gtest/gtest.h>

#include "store/store_test_support.h"

namespace bj {
namespace {

class SecretTableTest : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    if (IsSkipped()) return;
    store_ = open();
    table_.emplace(store_->database(), store_->vault());
  }
  std::string value_of(const std::string& name, const std::string& organization = kDefaultOrganization) {
    const auto found = table_->values(organization, {name});
    EXPECT_TRUE(found) << found.error().what;
    return found && found->contains(name) ? std::string(found->at(name).reveal()) : "none";
  }

  std::unique_ptr<Store> store_;
  std::optional<SecretTable> table_;
};

TEST_P(SecretTableTest, AChangeIsANewVersionAndKeepsWhatItDoesNotName) {
  const auto made = table_->create({}, "key", R"({"a":"1"})", Secret("first-value"));
  ASSERT_TRUE(made) << made.error().what;
  EXPECT_EQ(made->version, 1);
  EXPECT_EQ(table_->create({}, "key", "{}", Secret("x")).error().code, Code::kConflict);
  const auto changed = table_->update({}, "key", std::nullopt, Secret("second-value"));
  ASSERT_TRUE(changed) << changed.error().what;
  EXPECT_EQ(changed->version, 2);
  EXPECT_EQ(changed->metadata, R"({"a":"1"})");
  EXPECT_EQ(value_of("key"), "second-value");
  EXPECT_EQ(table_->update({}, made->id, "{}", Secret("third"))->metadata, "{}");
  EXPECT_EQ(table_->get(kDefaultOrganization, made->id)->version, 3);
  EXPECT_EQ(table_->list(kDefaultOrganization, {})->size(), 1u);
  ASSERT_TRUE(table_->remove(kDefaultOrganization, "key"));
  EXPECT_EQ(table_->remove(kDefaultOrganization, made->id).error().code, Code::kNotFound);
}

TEST_P(SecretTableTest, AValueIsEncryptedAndRotatedAndBelongsToItsRow) {
  ASSERT_TRUE(table_->create({}, "a", "{}", Secret("value-of-a")));
  ASSERT_TRUE(table_->create({}, "b", "{}", Secret("value-of-b")));
  const auto before = store_->database().read("SELECT value_enc FROM secrets ORDER BY name");
  ASSERT_TRUE(before);
  EXPECT_EQ(before->rows[0].text(0).find("value-of-a"), std::string::npos);
  ASSERT_TRUE(rotate_secrets(*store_));
  const auto after = store_->database().read("SELECT value_enc FROM secrets ORDER BY name");
  EXPECT_NE(before->rows[0].text(0), after->rows[0].text(0));
  EXPECT_EQ(value_of("a"), "value-of-a");
  ASSERT_TRUE(store_->database().write("UPDATE secrets SET value_enc = $1 WHERE name = 'b'", {after->rows[0].text(0)}));
  EXPECT_FALSE(table_->values(kDefaultOrganization, {"b"}));  // moved to another row, it does not open
}

TEST_P(SecretTableTest, AnotherOrganizationsIsNotThereAndANameThatIsAnIdTakesNothingOver) {
  const auto ours = table_->create({}, "ours", "{}", Secret("ours"));
  ASSERT_TRUE(ours);
  const Actor other = new_actor(*store_);
  EXPECT_EQ(table_->get(other.organization, ours->id).error().code, Code::kNotFound);
  EXPECT_EQ(table_->update(other, "ours", std::nullopt, Secret("x")).error().code, Code::kNotFound);
  EXPECT_EQ(table_->remove(other.organization, ours->id).error().code, Code::kNotFound);
  EXPECT_EQ(value_of("ours", other.organization), "none");
  ASSERT_TRUE(table_->create({}, ours->id, "{}", Secret("disguised")));
  EXPECT_EQ(table_->get(kDefaultOrganization, ours->id)->name, "ours");
}

BJ_ON_BOTH_ENGINES(SecretTableTest);

}  // namespace
}  // namespace bj
