#include "engine/java_keystore.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

// What `keytool` makes of an empty list: magic, version, no entries, the digest under "changeit".
const std::string kEmpty(
    "\xFE\xED\xFE\xED\0\0\0\2\0\0\0\0\xE2\x68\x6E\x45\xFB\x43\xDF\xA4\xD9\x92\xDD\x41\xCE\xB6\xB2\x1C\x63\x30\xD7\x92",
    32);

TEST(JavaKeystoreTest, ACertificateIsAddedBehindTheOthers) {
  const Result<std::string> one = with_trusted_certificate(kEmpty, "first", "DER1");
  ASSERT_TRUE(one) << one.error().what;
  const Result<std::string> two = with_trusted_certificate(*one, "second", "DER2");
  ASSERT_TRUE(two) << two.error().what;
  EXPECT_EQ(two->substr(8, 4), std::string("\0\0\0\2", 4));
  EXPECT_LT(two->find("DER1"), two->find("DER2"));
}

TEST(JavaKeystoreTest, WhatIsNoKeystoreOrHasAnotherPasswordIsLeftAlone) {
  EXPECT_FALSE(with_trusted_certificate("", "a", "b"));
  EXPECT_FALSE(with_trusted_certificate("\x30\x82 a PKCS12 file, say, of some length at least", "a", "b"));
  std::string other = kEmpty;
  other.back() = static_cast<char>(other.back() ^ 1);
  EXPECT_FALSE(with_trusted_certificate(other, "a", "b"));
}

}  // namespace
}  // namespace bj
