#include "store/accounts.h"

#include <gtest/gtest.h>

#include "store/store_test_support.h"

namespace bj {
namespace {

using AccountsTest = StoreTest;

TEST_P(AccountsTest, AKeyIsShownOnceAndFoundAgain) {
  const auto store = open();
  const auto made = store->api_keys().create({}, "laptop", Role::kMember);
  ASSERT_TRUE(made) << made.error().what;
  EXPECT_TRUE(made->key.reveal().starts_with("e2b_"));
  EXPECT_EQ(made->key.reveal().size(), 44u);
  EXPECT_TRUE(is_id("key", made->row.id));
  const auto found = store->api_keys().find(made->key);
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->id, made->row.id);
  EXPECT_EQ((*found)->role, Role::kMember);
  EXPECT_EQ((*found)->user, kDefaultUser);
  EXPECT_EQ((*found)->last_used_at, std::nullopt);
}

TEST_P(AccountsTest, AWrongOrRevokedKeyIsNobodys) {
  const auto store = open();
  const auto made = store->api_keys().create({}, "laptop", Role::kAdmin);
  std::string other(made->key.reveal());
  other.back() = other.back() == 'A' ? 'B' : 'A';
  for (const std::string& wrong : {other, std::string(), std::string("e2b_"), std::string(44, 'x'), other + "x"})
    EXPECT_EQ(*store->api_keys().find(Secret(wrong)), std::nullopt) << wrong.size();
  ASSERT_TRUE(store->api_keys().revoke(kDefaultOrganization, made->row.id));
  EXPECT_EQ(*store->api_keys().find(made->key), std::nullopt);
  const auto list = store->api_keys().list(kDefaultOrganization);
  ASSERT_EQ(list->size(), 1u);
  const auto revoked_at = (*list)[0].revoked_at;
  EXPECT_TRUE(revoked_at);
  EXPECT_EQ(store->api_keys().revoke(kDefaultOrganization, made->row.id)->revoked_at, revoked_at);
}

TEST_P(AccountsTest, AUseIsRecordedButNotEveryTime) {
  const auto store = open();
  const auto made = store->api_keys().create({}, "laptop", Role::kReadOnly);
  const auto found = [&] { return **store->api_keys().find(made->key); };
  ASSERT_TRUE(store->api_keys().touch(made->row));
  const auto first = found().last_used_at;
  ASSERT_TRUE(first);
  ASSERT_TRUE(store->api_keys().touch(found()));
  ASSERT_TRUE(store->api_keys().touch(made->row));  // read before the first use
  EXPECT_EQ(found().last_used_at, first);
  ASSERT_TRUE(store->database().write("UPDATE api_keys SET last_used_at = 5"));
  ASSERT_TRUE(store->api_keys().touch(found()));
  EXPECT_GE(*found().last_used_at, *first);
}

TEST_P(AccountsTest, AUseThatIsNotRecordedDoesNotWaitForWriters) {
  const auto store = open();
  const auto made = store->api_keys().create({}, "laptop", Role::kReadOnly);
  ASSERT_TRUE(store->api_keys().touch(made->row));
  const auto done = store->database().transact([&](Transaction& transaction) -> Result<void> {
    BJ_CHECK(transaction.run("UPDATE api_keys SET name = 'desktop'", {}));
    BJ_TRY(const auto found, store->api_keys().find(made->key));
    return store->api_keys().touch(*found);  // would wait for this very transaction
  });
  EXPECT_TRUE(done);
}

TEST_P(AccountsTest, KeysStayInTheirOrganization) {
  const auto store = open();
  const Actor other = new_actor(*store);
  const auto made = store->api_keys().create(other, "theirs", Role::kMember);
  EXPECT_EQ(store->api_keys().list(kDefaultOrganization)->size(), 0u);
  EXPECT_EQ(store->api_keys().revoke(kDefaultOrganization, made->row.id).error().code, Code::kNotFound);
  Actor crossed = other;
  crossed.organization = kDefaultOrganization;
  EXPECT_EQ(store->api_keys().create(crossed, "crossed", Role::kAdmin).error().code, Code::kNotFound);
}

TEST_P(AccountsTest, AnUnknownUserIsNobodyAndAnUnknownOrganizationHasNoUsers) {
  const auto store = open();
  EXPECT_EQ(store->users().find("user-nobody")->has_value(), false);
  EXPECT_EQ(store->users().create("org-nowhere", "x").error().code, Code::kDangling);
  EXPECT_EQ(store->organizations().get("org-nowhere").error().code, Code::kNotFound);
}

TEST(RoleTest, NamesAreReadAsWritten) {
  for (const Role role : {Role::kAdmin, Role::kMember, Role::kReadOnly}) EXPECT_EQ(*role_of(role_name(role)), role);
  EXPECT_EQ(role_of("root").error().code, Code::kInvalid);
}

BJ_ON_BOTH_ENGINES(AccountsTest);

}  // namespace
}  // namespace bj
