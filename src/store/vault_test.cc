#include "store/vault.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <thread>

#include "store/key_file.h"
#include "store/store_test_support.h"
#include "sys/files.h"

namespace bj {
namespace {

constexpr char kMaster[] = "test-master-key-1234567890abcdef";
constexpr char kLettaText[] = "AAECAwQFBgcICQoLDA0OD2RlZmdoaWprbG1ubyQG1HQCfVRpTKV0QJZsF1vS4I5DbmeBxdlBwA==";
constexpr Place kPlace{"table", "row", "value_enc"};

// What Letta's own reader does with a stored text, with and without a key.
TEST(VaultTest, ReadsWhatLettaStored) {
  struct Case {
    const char* key;  // null: none
    std::string stored;
    const char* plain;  // null: an error
  };
  const std::string clear = "sk-" + std::string(80, 'A');
  const std::string noise(64, 'A');
  const Case cases[] = {
      {kMaster, kLettaText, "simple text"},
      {nullptr, kLettaText, kLettaText},
      {"wrong", kLettaText, nullptr},
      {kMaster, clear, clear.c_str()},
      {kMaster, noise, nullptr},
      {nullptr, noise, noise.c_str()},
      {kMaster, "plain", "plain"},
      {kMaster, "", ""},
  };
  for (const Case& c : cases) {
    VaultOptions options;
    if (c.key) options.letta_encryption_key = Secret(c.key);
    const auto vault = Vault::open(std::move(options));
    const auto read = (*vault)->decrypt(c.stored, kPlace);
    EXPECT_EQ(read.has_value(), c.plain != nullptr) << c.stored;
    if (read && c.plain) EXPECT_EQ(read->reveal(), c.plain);
    if (!read) EXPECT_TRUE(read.error().what.starts_with("Failed to decrypt data: ")) << read.error().what;
  }
}

TEST(VaultTest, EitherOfTwoKeysReadsLettasFormat) {
  VaultOptions options;
  options.encryption_key = Secret("ours");
  options.letta_encryption_key = Secret(kMaster);
  EXPECT_EQ((*Vault::open(std::move(options)))->decrypt(kLettaText, kPlace)->reveal(), "simple text");
  VaultOptions previous;
  previous.encryption_key = Secret("ours");
  previous.previous_keys.emplace_back(kMaster);
  EXPECT_EQ((*Vault::open(std::move(previous)))->decrypt(kLettaText, kPlace)->reveal(), "simple text");
}

TEST(VaultTest, LettasFormatWithoutAKeyIsRefused) {
  VaultOptions options;
  options.letta_secret_format = true;
  EXPECT_EQ(Vault::open(std::move(options)).error().code, Code::kInvalid);
}

TEST(KeyFileTest, IsMadeOnceForTheOwnerOnly) {
  ScratchDirectory directory;
  const std::string path = directory.path() + "/secret.key";
  EXPECT_TRUE(read_key_file(path)->empty());
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; i++) threads.emplace_back([&] { EXPECT_TRUE(ensure_key_file(path)); });
  for (auto& thread : threads) thread.join();
  const auto keys = read_key_file(path);
  ASSERT_TRUE(keys) << keys.error().what;
  ASSERT_EQ(keys->size(), 1u);
  ASSERT_TRUE(ensure_key_file(path));
  EXPECT_TRUE((*read_key_file(path))[0].same_as((*keys)[0]));
  struct stat status{};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  // Nothing is left lying about.
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path())) files += entry.is_regular_file();
  EXPECT_EQ(files, 1);
}

TEST(KeyFileTest, AFileThatOthersMayReadIsRefused) {
  ScratchDirectory directory;
  const std::string path = directory.path() + "/secret.key";
  ASSERT_TRUE(ensure_key_file(path));
  for (const unsigned mode : {0640u, 0604u, 0620u}) {
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    const auto keys = read_key_file(path);
    ASSERT_FALSE(keys);
    EXPECT_EQ(keys.error().code, Code::kDenied);
    EXPECT_NE(keys.error().what.find("chmod 600"), std::string::npos);
  }
}

TEST(KeyFileTest, ALinkOrADamagedFileIsRefused) {
  ScratchDirectory directory;
  const std::string path = directory.path() + "/secret.key";
  ASSERT_TRUE(ensure_key_file(path));
  const std::string link = directory.path() + "/link";
  ASSERT_EQ(::symlink(path.c_str(), link.c_str()), 0);
  EXPECT_FALSE(read_key_file(link));
  ASSERT_TRUE(write_file_atomically(path, "not a key\n", 0600));
  EXPECT_EQ(read_key_file(path).error().code, Code::kInvalid);
}

TEST(KeyFileTest, OneRotationAtATime) {
  ScratchDirectory directory;
  const std::string path = directory.path() + "/secret.key";
  const auto first = lock_key_file(path);
  ASSERT_TRUE(first);
  EXPECT_EQ(lock_key_file(path).error().code, Code::kBusy);
}

class VaultStoreTest : public StoreTest {
 protected:
  static Result<VariableRow> put(Store& store, const std::string& key, const std::string& value) {
    const auto config = store.sandbox_configs().find_or_create({}, "local", "{}");
    return store.sandbox_variables().upsert({}, config->id, NewVariable{key, Secret(value), {}});
  }
  static std::string get(Store& store, const std::string& key) {
    const auto config = store.sandbox_configs().find(kDefaultOrganization, "local");
    const auto found = store.sandbox_variables().find(kDefaultOrganization, (*config)->id, key);
    if (!found) return "error: " + found.error().what;
    return found->has_value() ? std::string((*found)->value.reveal()) : "none";
  }
};

TEST_P(VaultStoreTest, WithoutAKeyOneIsMadeAndUsedAgain) {
  {
    ASSERT_TRUE(put(*open(), "K", "v"));
  }
  EXPECT_EQ(get(*open(), "K"), "v");
  EXPECT_EQ(read_key_file(directory_.path() + "/secret.key")->size(), 1u);
}

TEST_P(VaultStoreTest, ALostKeyIsSaidAtOpenAndNoNewOneIsMade) {
  {
    ASSERT_TRUE(put(*open(), "K", "v"));
  }
  const std::string file = directory_.path() + "/secret.key";
  ASSERT_EQ(::rename(file.c_str(), (file + ".lost").c_str()), 0);
  const auto refused = Store::open(options());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kDenied);
  EXPECT_FALSE(std::filesystem::exists(file));
  ASSERT_EQ(::rename((file + ".lost").c_str(), file.c_str()), 0);
  EXPECT_EQ(get(*open(), "K"), "v");
}

TEST_P(VaultStoreTest, AGivenKeyTakesOverFromTheFile) {
  {
    ASSERT_TRUE(put(*open(), "OLD", "1"));
  }
  StoreOptions given = options();
  given.vault.encryption_key = Secret("a key from the environment");
  const auto store = open(std::move(given));
  EXPECT_EQ(get(*store, "OLD"), "1");
  const auto fresh = put(*store, "NEW", "2");
  EXPECT_NE(fresh->value_enc->substr(0, 17), put(*store, "OLD", "1")->value_enc->substr(0, 17));
  EXPECT_EQ(*rotate_secrets(*store), 1);
  // Now the file is not needed any more.
  ASSERT_EQ(::unlink((directory_.path() + "/secret.key").c_str()), 0);
  StoreOptions again = options();
  again.vault.encryption_key = Secret("a key from the environment");
  EXPECT_EQ(get(*open(std::move(again)), "OLD"), "1");
  StoreOptions wrong = options();
  wrong.vault.encryption_key = Secret("another");
  EXPECT_EQ(Store::open(std::move(wrong)).error().code, Code::kDenied);
  StoreOptions changed = options();
  changed.vault.encryption_key = Secret("another");
  changed.vault.previous_keys.emplace_back("a key from the environment");
  EXPECT_EQ(get(*open(std::move(changed)), "OLD"), "1");
}

TEST_P(VaultStoreTest, LettasFormatIsWrittenWhenAskedAndBothAreRead) {
  StoreOptions ours = options();
  ours.vault.letta_encryption_key = Secret(kMaster);
  {
    const auto store = open(std::move(ours));
    EXPECT_TRUE(put(*store, "OURS", "1")->value_enc->starts_with("bj1:"));  // ours by default, whatever the key's name
  }
  StoreOptions letta = options();
  letta.vault.letta_encryption_key = Secret(kMaster);
  letta.vault.letta_secret_format = true;
  const auto store = open(std::move(letta));
  const auto made = put(*store, "THEIRS", "2");
  ASSERT_TRUE(made) << made.error().what;
  LettaKeyCache cache;
  EXPECT_EQ(letta_decrypt(cache, Secret(kMaster), *made->value_enc)->reveal(), "2");  // a Letta server could
  EXPECT_EQ(get(*store, "OURS"), "1");
  EXPECT_EQ(get(*store, "THEIRS"), "2");
  EXPECT_EQ(*rotate_secrets(*store), 1);
  EXPECT_EQ(*rotate_secrets(*store), 0);
  EXPECT_EQ(get(*store, "OURS"), "1");
}

BJ_ON_BOTH_ENGINES(VaultStoreTest);

}  // namespace
}  // namespace bj
