#include <gtest/gtest.h>

#include <thread>

#include "store/store_test_support.h"

namespace bj {
namespace {

class SandboxConfigTableTest : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    if (!IsSkipped()) store_ = open();
  }
  SandboxConfigRow config(const std::string& type = "local", const Actor& actor = {}) {
    auto made = store_->sandbox_configs().find_or_create(actor, type, "{}");
    EXPECT_TRUE(made) << made.error().what;
    return made ? *made : SandboxConfigRow();
  }
  Result<VariableRow> set(const std::string& config_id, const std::string& key, const std::string& value,
                          const MaybeText& description = {}, const Actor& actor = {}) {
    const NewVariable variable{key, Secret(value), description};
    return store_->sandbox_variables().upsert(actor, config_id, variable);
  }
  std::string stored(const std::string& column, const std::string& id) {
    const auto rows =
        store_->database().read("SELECT " + column + " FROM sandbox_environment_variables WHERE id = $1", {id});
    return rows && !rows->rows.empty() ? rows->rows[0].text(0) : "no row";
  }

  std::unique_ptr<Store> store_;
};

TEST_P(SandboxConfigTableTest, ThereIsOneConfigurationATypeAndOrganization) {
  const SandboxConfigRow first = config();
  EXPECT_TRUE(is_id("sandbox", first.id));
  EXPECT_EQ(store_->sandbox_configs().find_or_create({}, "local", R"({"x":1})")->id, first.id);
  EXPECT_EQ(store_->sandbox_configs().find(kDefaultOrganization, "local")->value().config, "{}");
  EXPECT_NE(config("e2b").id, first.id);
  const Actor other = new_actor(*store_);
  EXPECT_NE(config("local", other).id, first.id);
  EXPECT_EQ(store_->sandbox_configs().find(other.organization, "e2b")->has_value(), false);
}

TEST_P(SandboxConfigTableTest, UpsertReplacesAndTheSameLeavesTheRowAlone) {
  const auto first = store_->sandbox_configs().upsert({}, "local", R"({"a":1})");
  ASSERT_TRUE(first) << first.error().what;
  const auto same = store_->sandbox_configs().upsert({}, "local", R"({"a":1})");
  EXPECT_EQ(same->stamp.updated_at, first->stamp.updated_at);
  const auto other = store_->sandbox_configs().upsert({}, "local", R"({"b":2})");
  EXPECT_EQ(other->id, first->id);
  EXPECT_EQ(other->config, R"({"b":2})");
  EXPECT_GT(other->stamp.updated_at, first->stamp.updated_at);
  EXPECT_EQ(other->stamp.created_at, first->stamp.created_at);
}

TEST_P(SandboxConfigTableTest, ManyFirstCallersGetTheSameConfiguration) {
  std::vector<std::string> ids(6);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < ids.size(); i++) threads.emplace_back([&, i] { ids[i] = config("modal").id; });
  for (auto& thread : threads) thread.join();
  for (const std::string& id : ids) EXPECT_EQ(id, ids[0]);
}

TEST_P(SandboxConfigTableTest, AChangeWritesTheConfigurationOnly) {
  const SandboxConfigRow row = config();
  const auto changed = store_->sandbox_configs().change({}, row.id, [](SandboxConfigRow& edited) -> Result<void> {
    edited.config = R"({"n":1})";
    edited.type = "e2b";
    return {};
  });
  ASSERT_TRUE(changed) << changed.error().what;
  EXPECT_EQ(changed->config, R"({"n":1})");
  EXPECT_EQ(changed->type, "local");
  const auto nothing = [](SandboxConfigRow&) -> Result<void> { return {}; };
  EXPECT_EQ(store_->sandbox_configs().change({}, row.id, nothing)->stamp.updated_at, changed->stamp.updated_at);
  EXPECT_EQ(store_->sandbox_configs().change({}, "sandbox-x", nothing).error().code, Code::kNotFound);
}

TEST_P(SandboxConfigTableTest, ListsByTypeWithCursorAndRemovesWithVariables) {
  const SandboxConfigRow local = config("local");
  const SandboxConfigRow e2b = config("e2b");
  EXPECT_EQ(store_->sandbox_configs().list(kDefaultOrganization, {})->size(), 2u);
  EXPECT_EQ(store_->sandbox_configs().list(kDefaultOrganization, {}, "e2b")->at(0).id, e2b.id);
  const Page after{local.id, {}, 50, Order::kAscending};
  EXPECT_EQ(store_->sandbox_configs().list(kDefaultOrganization, after)->at(0).id, e2b.id);
  const auto variable = set(local.id, "K", "v");
  ASSERT_TRUE(store_->sandbox_configs().remove(kDefaultOrganization, local.id));
  EXPECT_EQ(store_->sandbox_variables().get(kDefaultOrganization, variable->id).error().code, Code::kNotFound);
  EXPECT_EQ(store_->sandbox_configs().remove(kDefaultOrganization, local.id).error().code, Code::kNotFound);
}

TEST_P(SandboxConfigTableTest, AValueIsEncryptedAtRestAndBoundToItsRow) {
  const std::string id = config().id;
  const auto made = set(id, "API_KEY", "hunter2", "mine");
  ASSERT_TRUE(made) << made.error().what;
  EXPECT_TRUE(is_id("sandbox-env", made->id));
  EXPECT_EQ(made->value.reveal(), "hunter2");
  EXPECT_EQ(stored("value", made->id), "");
  const std::string sealed = stored("value_enc", made->id);
  EXPECT_EQ(sealed, *made->value_enc);
  EXPECT_TRUE(sealed.starts_with("bj1:"));
  EXPECT_EQ(sealed.find("hunter2"), std::string::npos);
  // The same ciphertext in another row does not open: it would be another tool's secret.
  const auto other = set(id, "OTHER", "x");
  ASSERT_TRUE(store_->database().write("UPDATE sandbox_environment_variables SET value_enc = $1 WHERE id = $2",
                                       {sealed, other->id}));
  const auto read = store_->sandbox_variables().get(kDefaultOrganization, other->id);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().what.find(sealed), std::string::npos);
  EXPECT_EQ(store_->sandbox_variables().get(kDefaultOrganization, made->id)->value.reveal(), "hunter2");
}

TEST_P(SandboxConfigTableTest, AnEmptyValueNeedsNoCiphertext) {
  const auto made = set(config().id, "K", "");
  EXPECT_EQ(made->value_enc, std::nullopt);
  EXPECT_EQ(store_->sandbox_variables().get(kDefaultOrganization, made->id)->value.reveal(), "");
  const auto filled = set(config().id, "K", "v");
  EXPECT_TRUE(filled->value_enc);
  EXPECT_EQ(set(config().id, "K", "")->value_enc, std::nullopt);
}

TEST_P(SandboxConfigTableTest, UpsertByKeyKeepsTheRow) {
  const std::string id = config().id;
  const auto first = set(id, "K", "1", "first");
  const auto second = set(id, "K", "2");
  EXPECT_EQ(second->id, first->id);
  EXPECT_EQ(second->description, "first");  // not given: kept
  EXPECT_EQ(second->value.reveal(), "2");
  EXPECT_GT(second->stamp.updated_at, first->stamp.updated_at);
  const auto same = set(id, "K", "2");
  EXPECT_EQ(same->value_enc, second->value_enc);
  EXPECT_EQ(same->stamp.updated_at, second->stamp.updated_at);
  EXPECT_EQ(set(id, "K", "2", "other")->value_enc, second->value_enc);  // the ciphertext stays when the value does
}

TEST_P(SandboxConfigTableTest, AVariableOfNoConfigurationOrAnotherOrganizationsIsRefused) {
  EXPECT_EQ(set("sandbox-00000000-0000-4000-8000-000000000000", "K", "v").error().code, Code::kDangling);
  const Actor other = new_actor(*store_);
  const std::string theirs = config("local", other).id;
  EXPECT_EQ(set(theirs, "K", "v").error().code, Code::kDangling);
  EXPECT_EQ(store_->sandbox_variables().list(other.organization, theirs, {})->size(), 0u);
  const auto hidden = set(theirs, "K", "v", {}, other);
  EXPECT_EQ(store_->sandbox_variables().get(kDefaultOrganization, hidden->id).error().code, Code::kNotFound);
  EXPECT_EQ(store_->sandbox_variables().remove(kDefaultOrganization, hidden->id).error().code, Code::kNotFound);
  EXPECT_EQ(store_->sandbox_variables().change({}, hidden->id, {}).error().code, Code::kNotFound);
  EXPECT_EQ(store_->sandbox_variables().list(kDefaultOrganization, theirs, {})->size(), 0u);
  EXPECT_EQ(store_->sandbox_variables().list_by_key(kDefaultOrganization, "K", {})->size(), 0u);
  EXPECT_EQ(store_->sandbox_variables().find(kDefaultOrganization, theirs, "K")->has_value(), false);
}

TEST_P(SandboxConfigTableTest, AChangeTouchesWhatIsGiven) {
  const std::string id = config().id;
  const auto first = set(id, "A", "1", "d");
  ASSERT_TRUE(set(id, "B", "2"));
  VariableChange rename;
  rename.key = "C";
  const auto renamed = store_->sandbox_variables().change({}, first->id, rename);
  ASSERT_TRUE(renamed) << renamed.error().what;
  EXPECT_EQ(renamed->key, "C");
  EXPECT_EQ(renamed->value.reveal(), "1");
  EXPECT_EQ(renamed->value_enc, first->value_enc);
  rename.key = "B";
  EXPECT_EQ(store_->sandbox_variables().change({}, first->id, rename).error().code, Code::kConflict);
  VariableChange value;
  value.value = Secret("9");
  EXPECT_EQ(store_->sandbox_variables().change({}, first->id, value)->value.reveal(), "9");
  EXPECT_EQ(store_->sandbox_variables().find(kDefaultOrganization, id, "C")->value().value.reveal(), "9");
}

TEST_P(SandboxConfigTableTest, ListsAreInOrderOfCreationWithCursor) {
  const std::string id = config().id;
  std::vector<std::string> ids;
  for (const char* key : {"Z", "A", "M"}) ids.push_back(set(id, key, key)->id);
  const auto keys = [&](const Page& page) {
    std::string text;
    const auto list = store_->sandbox_variables().list(kDefaultOrganization, id, page);
    for (const VariableRow& variable : *list) text += variable.key + "=" + std::string(variable.value.reveal()) + " ";
    return text;
  };
  EXPECT_EQ(keys({}), "Z=Z A=A M=M ");
  EXPECT_EQ(keys({ids[0], {}, 1, Order::kAscending}), "A=A ");
  const std::string modal = config("modal").id;
  ASSERT_TRUE(set(modal, "A", "other"));
  EXPECT_EQ(store_->sandbox_variables().list_by_key(kDefaultOrganization, "A", {})->size(), 2u);
}

TEST_P(SandboxConfigTableTest, AClearValueOfOldIsReadAndEncryptedByTheNextChange) {
  const auto made = set(config().id, "K", "new");
  ASSERT_TRUE(store_->database().write(
      "UPDATE sandbox_environment_variables SET value = 'legacy', value_enc = NULL WHERE id = $1", {made->id}));
  EXPECT_EQ(store_->sandbox_variables().get(kDefaultOrganization, made->id)->value.reveal(), "legacy");
  VariableChange change;
  change.description = "touched";
  ASSERT_TRUE(store_->sandbox_variables().change({}, made->id, change));
  EXPECT_EQ(stored("value", made->id), "");
  EXPECT_TRUE(stored("value_enc", made->id).starts_with("bj1:"));
  EXPECT_EQ(store_->sandbox_variables().get(kDefaultOrganization, made->id)->value.reveal(), "legacy");
}

BJ_ON_BOTH_ENGINES(SandboxConfigTableTest);

}  // namespace
}  // namespace bj
