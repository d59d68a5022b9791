#include "store/letta_secret.h"

#include <gtest/gtest.h>

#include "store/crypto.h"

namespace bj {
namespace {

std::string from_hex(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return bytes;
}

// Made by Letta itself.
struct Vector {
  const char* master;
  const char* salt;
  const char* iv;
  const char* plain;
  const char* derived;
  const char* stored;
};
const Vector kVectors[] = {
    {"test-master-key-1234567890abcdef", "000102030405060708090a0b0c0d0e0f", "6465666768696a6b6c6d6e6f", "simple text",
     "13a6e6be3db8545e950c7b33d417c1e69e16dfc99f1cbba24e49b6977556a205",
     "AAECAwQFBgcICQoLDA0OD2RlZmdoaWprbG1ubyQG1HQCfVRpTKV0QJZsF1vS4I5DbmeBxdlBwA=="},
    {"test-master-key-1234567890abcdef", "00000000000000000000000000000000", "000000000000000000000000", "",
     "369f0b0bae5b7008f98871bf470f78973eed66b5f1ddee7b2a3fedced4642ed0",
     "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAO50CCSjXvIZcZhqAlip3yY="},
    {"k\u00e9y \U0001f511", "ffffffffffffffffffffffffffffffff", "010101010101010101010101",
     "unicode \u4f60\u597d \U0001f30d", "cfab7e624d0e4284a08eed8c421aabe7a9b34fea362f3352b8a899ab748a237f",
     "/////////////////////wEBAQEBAQEBAQEBAcrnZG565zMYp7MNdp6zDqI5bQrC0abYLp6jzUSX+vfX83xb"},
    {"k", "000102030405060708090a0b0c0d0e0f", "000102030405060708090a0b", "{\"json\": \"data\"}",
     "2d06a76c9bdccc76f308a6d90f6b8cfa4604eda7dae9b7de6198c26edfb28d0e",
     "AAECAwQFBgcICQoLDA0ODwABAgMEBQYHCAkKC/idExVkihNnt7H7x4/Q7KdKJHXByPxRF6DbuK5NobV9"},
};

TEST(LettaSecretTest, WritesAndReadsLettasOwnVectors) {
  LettaKeyCache cache;
  for (const Vector& v : kVectors) {
    const Secret master(v.master);
    const std::string salt = from_hex(v.salt);
    EXPECT_EQ(to_hex(cache.derive(master, salt)->reveal()), v.derived);
    EXPECT_EQ(*letta_encrypt_with(cache, master, Secret(v.plain), salt, from_hex(v.iv)), v.stored);
    const auto read = letta_decrypt(cache, master, v.stored);
    ASSERT_TRUE(read) << read.error().what;
    EXPECT_EQ(read->reveal(), v.plain);
  }
}

TEST(LettaSecretTest, TheSameTextNeverLooksTheSame) {
  LettaKeyCache cache;
  const Secret master("m");
  const std::string first = *letta_encrypt(cache, master, Secret("x"));
  EXPECT_NE(first, *letta_encrypt(cache, master, Secret("x")));
  EXPECT_EQ(letta_decrypt(cache, master, first)->reveal(), "x");
}

TEST(LettaSecretTest, AWrongKeyAndAChangedByteAreRefused) {
  LettaKeyCache cache;
  std::string stored = kVectors[0].stored;
  const auto wrong = letta_decrypt(cache, Secret("wrong"), stored);
  ASSERT_FALSE(wrong);
  EXPECT_TRUE(wrong.error().what.starts_with("Failed to decrypt data: "));
  stored[50] = stored[50] == 'A' ? 'B' : 'A';
  EXPECT_FALSE(letta_decrypt(cache, Secret(kVectors[0].master), stored));
  EXPECT_FALSE(letta_decrypt(cache, Secret("m"), "short"));
  EXPECT_FALSE(letta_decrypt(cache, Secret("m"), ""));
}

TEST(LettaSecretTest, GuessesLikeLettaWhatIsEncrypted) {
  const std::string many(80, 'A');
  EXPECT_TRUE(letta_is_encrypted(kVectors[0].stored));
  EXPECT_FALSE(letta_is_encrypted(kVectors[1].stored));  // an encrypted empty text: too short for the guess
  for (const char* prefix : {"sk-", "ghp_", "AKIA", "Bearer ", "xoxb-", "token-", "pk-", "ASIA"})
    EXPECT_FALSE(letta_is_encrypted(prefix + many)) << prefix;
  EXPECT_FALSE(letta_is_encrypted("short"));
  EXPECT_FALSE(letta_is_encrypted("hello world!"));
  EXPECT_FALSE(letta_is_encrypted(""));
  EXPECT_TRUE(letta_is_encrypted(std::string(60, 'A')));
  EXPECT_FALSE(letta_is_encrypted(std::string(59, 'A')));
  EXPECT_TRUE(letta_is_encrypted(std::string(64, 'A')));
  EXPECT_FALSE(letta_is_encrypted(std::string(64, 'A') + "\u00e9"));  // not ASCII
}

TEST(LettaSecretTest, Base64IsReadAsLenientlyAsPythonDoes) {
  EXPECT_EQ(lenient_base64("aGk="), "hi");
  EXPECT_EQ(lenient_base64("a G\nk="), "hi");
  EXPECT_EQ(lenient_base64("aGk=ignored!"), "hi");
  EXPECT_EQ(lenient_base64("=aGk="), "hi");
  EXPECT_EQ(lenient_base64("aGk"), std::nullopt);
  EXPECT_EQ(lenient_base64("a"), std::nullopt);
  EXPECT_EQ(lenient_base64(""), "");
  EXPECT_EQ(lenient_base64("!!!!"), "");
  EXPECT_EQ(base64("hi"), "aGk=");
  EXPECT_EQ(base64_url("\xff\xfe"), "__4");
}

TEST(LettaSecretTest, ACachedKeyIsThatOfItsMasterAndSalt) {
  LettaKeyCache cache;
  const Secret master("m");
  const std::string salt(16, 's');
  const std::string first = to_hex(cache.derive(master, salt)->reveal());
  EXPECT_EQ(to_hex(cache.derive(master, salt)->reveal()), first);
  EXPECT_NE(to_hex(cache.derive(Secret("n"), salt)->reveal()), first);
  EXPECT_NE(to_hex(cache.derive(master, std::string(16, 't'))->reveal()), first);
}

}  // namespace
}  // namespace bj
