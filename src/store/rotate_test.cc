#include <fcntl.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "base/fd.h"
#include "store/key_file.h"
#include "store/store_test_support.h"

namespace bj {
namespace {

constexpr int kSecrets = 450;  // more than two batches

class RotateTest : public StoreTest {
 protected:
  void fill(Store& store) {
    const auto config = store.sandbox_configs().find_or_create({}, "local", "{}");
    config_ = config->id;
    // One transaction's worth through an agent, the rest one by one.
    NewAgent fresh;
    fresh.row.name = "agent";
    for (int i = 0; i < kSecrets; i++)
      fresh.variables.push_back({"K" + std::to_string(i), Secret("secret " + std::to_string(i)), {}});
    const auto agent = store.agents().create({}, std::move(fresh));
    ASSERT_TRUE(agent) << agent.error().what;
    agent_ = agent->id;
    for (int i = 0; i < 5; i++) ASSERT_TRUE(put(store, "C" + std::to_string(i), "config " + std::to_string(i)));
  }
  Result<VariableRow> put(Store& store, const std::string& key, const std::string& value) {
    return store.sandbox_variables().upsert({}, config_, NewVariable{key, Secret(value), {}});
  }
  // Every secret reads as it was written; yields the ids of the keys they are under.
  std::set<std::string> check(Store& store) {
    std::set<std::string> keys;
    int right = 0;
    const auto of_agent = store.agents().variables(kDefaultOrganization, agent_);
    EXPECT_TRUE(of_agent) << of_agent.error().what;
    if (!of_agent) return keys;
    for (const VariableRow& row : *of_agent) {
      right += row.value.reveal() == "secret " + row.key.substr(1);
      keys.insert(row.value_enc->substr(0, row.value_enc->rfind(':')));
    }
    EXPECT_EQ(right, kSecrets);
    const auto of_config = store.sandbox_variables().list(kDefaultOrganization, config_, {});
    EXPECT_TRUE(of_config) << of_config.error().what;
    if (!of_config) return keys;
    for (const VariableRow& row : *of_config) {
      EXPECT_EQ(row.value.reveal(), "config " + row.key.substr(1));
      keys.insert(row.value_enc->substr(0, row.value_enc->rfind(':')));
    }
    return keys;
  }
  size_t keys_in_file() const { return read_key_file(directory_.path() + "/secret.key")->size(); }

  std::string config_;
  std::string agent_;
};

TEST_P(RotateTest, EverySecretMovesToTheNewKeyAndTheOldOneGoes) {
  const auto store = open();
  fill(*store);
  const auto before = check(*store);
  const auto changed = rotate_secrets(*store);
  ASSERT_TRUE(changed) << changed.error().what;
  EXPECT_EQ(*changed, kSecrets + 5);
  const auto after = check(*store);
  EXPECT_EQ(after.size(), 1u);
  EXPECT_NE(after, before);
  EXPECT_EQ(keys_in_file(), 1u);
  check(*open());
}

TEST_P(RotateTest, AServerThatRunsMeanwhileGoesOn) {
  const auto server = open();
  fill(*server);
  check(*server);
  {
    const auto command = open();
    ASSERT_TRUE(rotate_secrets(*command));
  }
  // It read its keys long ago; it must neither fail to read nor write under the key that is gone.
  check(*server);
  ASSERT_TRUE(put(*server, "C9", "config 9"));
  const auto fresh = open();
  EXPECT_EQ(check(*fresh).size(), 1u);
}

// As a crash would leave it between the steps.
TEST_P(RotateTest, AnInterruptedRotationLosesNothingAndIsTakenUpAgain) {
  {
    const auto store = open();
    fill(*store);
    ASSERT_TRUE(store->vault().begin_rotation(store->database()));
  }
  const auto store = open();
  check(*store);
  EXPECT_EQ(keys_in_file(), 2u);
  ASSERT_TRUE(put(*store, "C7", "config 7"));
  EXPECT_EQ(check(*store).size(), 2u);
  ASSERT_TRUE(rotate_secrets(*store));
  EXPECT_EQ(keys_in_file(), 1u);
  EXPECT_EQ(check(*store).size(), 1u);
}

// A file with a new key that the database was never told about.
TEST_P(RotateTest, ACrashRightAfterTheKeyFileWasWrittenLosesNothing) {
  {
    const auto store = open();
    fill(*store);
  }
  const std::string file = directory_.path() + "/secret.key";
  auto keys = read_key_file(file);
  keys->push_back(*new_master_key());
  ASSERT_TRUE(replace_key_file(file, *keys));
  const auto store = open();
  EXPECT_EQ(check(*store).size(), 1u);
  ASSERT_TRUE(rotate_secrets(*store));
  EXPECT_EQ(check(*store).size(), 1u);
  EXPECT_EQ(keys_in_file(), 1u);
}

TEST_P(RotateTest, KilledAtAnyMomentEverythingStaysReadable) {
  {
    const auto store = open();
    fill(*store);
  }
  std::mt19937 random(7);
  for (int round = 0; round < 8; round++) {
    int ready[2];
    ASSERT_EQ(::pipe2(ready, O_CLOEXEC), 0);
    ChildProcess child([&] {
      const auto store = Store::open(options());
      if (!store || ::write(ready[1], "x", 1) != 1) ::_exit(1);
      while (rotate_secrets(**store)) {
      }
      ::_exit(2);
    });
    const Fd read_end(ready[0]);
    Fd write_end(ready[1]);
    write_end.reset();
    char byte = 0;
    ASSERT_EQ(::read(read_end.get(), &byte, 1), 1);
    // The moment is random, not the outcome.
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 60'000));
    child.stop(SIGKILL);
    check(*open());
  }
  const auto store = open();
  ASSERT_TRUE(rotate_secrets(*store));
  EXPECT_EQ(check(*store).size(), 1u);
  EXPECT_EQ(keys_in_file(), 1u);
}

TEST_P(RotateTest, ASecretThatCannotBeReadStopsTheRotationAndKeepsTheOldKey) {
  const auto store = open();
  fill(*store);
  ASSERT_TRUE(store->database().write(
      "UPDATE agent_environment_variables SET value_enc = 'bj1:000000000000:AAAA' WHERE key = 'K3'"));
  EXPECT_FALSE(rotate_secrets(*store));
  EXPECT_EQ(keys_in_file(), 2u);
}

BJ_ON_BOTH_ENGINES(RotateTest);

}  // namespace
}  // namespace bj
