#include "tools/credential_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "base/actor.h"
#include "store/store_test_support.h"

namespace bj {
namespace {

class CredentialFilesTest : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text, mode_t mode = 0600) {
    const std::string path = directory_.path() + "/" + name;
    std::ofstream(path) << text;
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
  }
  auto find(const std::string& name, const std::string& organization = kDefaultOrganization) {
    return CredentialFiles(directory_.path()).find(organization, name);
  }

  ScratchDirectory directory_;
};

constexpr char kBinding[] = R"("hosts": ["h.example"], "header": "Authorization")";

TEST_F(CredentialFilesTest, AFileHoldsItsValueOrNamesTheFileThatDoes) {
  write("inline.json", std::string("{") + kBinding + R"(, "value": "inline-value"})");
  write("apart.json", std::string("{") + kBinding + R"(, "value_file": "apart.txt"})");
  write("apart.txt", "apart-value\n");
  ASSERT_TRUE(find("inline")) << find("inline").error().what;
  EXPECT_EQ((*find("inline"))->gate.value->reveal(), "inline-value");
  ASSERT_TRUE(find("apart")) << find("apart").error().what;
  EXPECT_EQ((*find("apart"))->gate.value->reveal(), "apart-value");
}

TEST_F(CredentialFilesTest, WhatOthersMayReadIsRefused) {
  write("open.json", std::string("{") + kBinding + R"(, "value": "inline-value"})", 0640);
  EXPECT_EQ(find("open").error().code, Code::kDenied);
  write("apart.json", std::string("{") + kBinding + R"(, "value_file": "apart.txt"})");
  write("apart.txt", "apart-value\n", 0604);
  EXPECT_EQ(find("apart").error().code, Code::kDenied);
  ASSERT_EQ(::symlink("apart.json", (directory_.path() + "/link.json").c_str()), 0);
  EXPECT_FALSE(find("link"));
}

TEST_F(CredentialFilesTest, ItIsOneOrganizationsOnly) {
  write("theirs.json", std::string("{") + kBinding + R"(, "value": "inline-value", "organization": "org-1"})");
  write("ours.json", std::string("{") + kBinding + R"(, "value": "inline-value"})");
  EXPECT_TRUE(find("theirs", "org-1")->has_value());
  EXPECT_FALSE(find("theirs")->has_value());
  EXPECT_FALSE(find("ours", "org-1")->has_value());
}

TEST_F(CredentialFilesTest, AMissingOneIsNoneAndAnOddNameIsNoPath) {
  EXPECT_FALSE(find("none")->has_value());
  EXPECT_FALSE(find("../x"));
  EXPECT_FALSE(CredentialFiles().find(kDefaultOrganization, "none")->has_value());
}

TEST_F(CredentialFilesTest, ABrokenFileIsAnErrorThatNamesItAndNotItsValue) {
  for (const char* const text :
       {"", "[]", R"({"value": "inline-value"})", R"({"value": "inline-value", "hosts": 5})"}) {
    write("broken.json", text);
    const auto found = find("broken");
    ASSERT_FALSE(found) << text;
    EXPECT_NE(found.error().what.find("broken.json"), std::string::npos) << found.error().what;
    EXPECT_EQ(found.error().what.find("inline-value"), std::string::npos);
  }
}

}  // namespace
}  // namespace bj
