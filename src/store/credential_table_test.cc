#include "store/credential_table.h"

#include <gtest/gtest.h>

#include "store/store_test_support.h"

namespace bj {
namespace {

class CredentialTableTest : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    if (!IsSkipped()) store_ = open();
  }
  CredentialTable& table() { return store_->credentials(); }
  std::string value_of(const std::string& name, const std::string& organization = kDefaultOrganization) {
    const auto found = table().find(organization, {name});
    EXPECT_TRUE(found) << found.error().what;
    return found && !found->empty() ? std::string(found->front().value.reveal()) : "none";
  }

  std::unique_ptr<Store> store_;
};

TEST_P(CredentialTableTest, AValueIsEncryptedAndBelongsToItsRow) {
  ASSERT_TRUE(table().create({}, "github", "{}", Secret("first-value")));
  ASSERT_TRUE(table().create({}, "npm", "{}", Secret("second-value")));
  EXPECT_EQ(value_of("github"), "first-value");
  const auto rows = store_->database().read("SELECT value_enc FROM credentials ORDER BY name");
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->rows[0].text(0).find("first-value"), std::string::npos);
  ASSERT_TRUE(
      store_->database().write("UPDATE credentials SET value_enc = $1 WHERE name = 'npm'", {rows->rows[0].text(0)}));
  EXPECT_FALSE(table().find(kDefaultOrganization, {"npm"}));  // moved to another row, it does not open
}

TEST_P(CredentialTableTest, ANameIsTakenOnceInAnOrganization) {
  ASSERT_TRUE(table().create({}, "github", "{}", Secret("ours")));
  EXPECT_EQ(table().create({}, "github", "{}", Secret("x")).error().code, Code::kConflict);
  const Actor other = new_actor(*store_);
  ASSERT_TRUE(table().create(other, "github", "{}", Secret("theirs")));
  EXPECT_EQ(value_of("github"), "ours");
  EXPECT_EQ(value_of("github", other.organization), "theirs");
}

TEST_P(CredentialTableTest, PutKeepsTheValueThatIsNotGiven) {
  EXPECT_EQ(table().put({}, "github", "{}", {}).error().code, Code::kNotFound);
  ASSERT_TRUE(table().put({}, "github", "{}", Secret("one")));
  ASSERT_TRUE(table().put({}, "github", R"({"a":1})", {}));
  EXPECT_EQ(value_of("github"), "one");
  EXPECT_EQ(table().get(kDefaultOrganization, "github")->binding, R"({"a":1})");
  ASSERT_TRUE(table().put({}, "github", "{}", Secret("two")));
  EXPECT_EQ(value_of("github"), "two");
  EXPECT_EQ(table().list(kDefaultOrganization)->size(), 1u);
}

TEST_P(CredentialTableTest, AnotherOrganizationsLooksLikeNone) {
  ASSERT_TRUE(table().create({}, "github", "{}", Secret("ours")));
  const Actor other = new_actor(*store_);
  EXPECT_EQ(table().get(other.organization, "github").error().code, Code::kNotFound);
  EXPECT_EQ(table().remove(other.organization, "github").error().code, Code::kNotFound);
  EXPECT_TRUE(table().list(other.organization)->empty());
  EXPECT_TRUE(table().find(other.organization, {"github"})->empty());
  EXPECT_EQ(table().put(other, "github", "{}", {}).error().code, Code::kNotFound);
  EXPECT_EQ(value_of("github"), "ours");
  ASSERT_TRUE(table().remove(kDefaultOrganization, "github"));
  EXPECT_TRUE(table().list(kDefaultOrganization)->empty());
}

TEST_P(CredentialTableTest, ARotationWritesThemAnew) {
  ASSERT_TRUE(table().create({}, "github", "{}", Secret("kept")));
  const auto before = store_->database().read("SELECT value_enc FROM credentials");
  const auto changed = rotate_secrets(*store_);
  ASSERT_TRUE(changed) << changed.error().what;
  EXPECT_EQ(*changed, 1);
  const auto after = store_->database().read("SELECT value_enc FROM credentials");
  EXPECT_NE(after->rows[0].text(0), before->rows[0].text(0));
  EXPECT_EQ(value_of("github"), "kept");
}

TEST_P(CredentialTableTest, APolicyIsOnePerOrganization) {
  NetworkPolicyTable& policies = store_->network_policies();
  EXPECT_FALSE(policies.find(kDefaultOrganization)->has_value());
  EXPECT_EQ(policies.remove(kDefaultOrganization).error().code, Code::kNotFound);
  ASSERT_TRUE(policies.put({}, R"("open")"));
  ASSERT_TRUE(policies.put({}, R"("packages")"));
  EXPECT_EQ(policies.find(kDefaultOrganization)->value().policy, R"("packages")");
  const Actor other = new_actor(*store_);
  EXPECT_FALSE(policies.find(other.organization)->has_value());
  ASSERT_TRUE(policies.remove(kDefaultOrganization));
  EXPECT_FALSE(policies.find(kDefaultOrganization)->has_value());
}

TEST_P(CredentialTableTest, AKeyKeepsTheLimitsItWasGiven) {
  KeyLimits limits;
  limits.requests_per_second = 2.5;
  limits.runs_at_once = 3;
  const auto limited = store_->api_keys().create({}, "limited", Role::kMember, limits);
  ASSERT_TRUE(limited) << limited.error().what;
  const auto found = store_->api_keys().find(limited->key);
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->limits.requests_per_second, 2.5);
  EXPECT_EQ((*found)->limits.runs_at_once, 3);
  const auto usual = store_->api_keys().create({}, "usual", Role::kMember);
  EXPECT_FALSE(store_->api_keys().find(usual->key)->value().limits.requests_per_second);
}

BJ_ON_BOTH_ENGINES(CredentialTableTest);

}  // namespace
}  // namespace bj
