#include "engine/environments/environment_key.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

std::vector<std::string> normal(Language language, const std::vector<std::string>& requirements) {
  const auto result = normalize_requirements(language, requirements);
  return result ? *result : std::vector<std::string>{"refused: " + result.error().what};
}

TEST(EnvironmentKeyTest, PythonNamesAreAsTheIndexComparesThem) {
  EXPECT_EQ(normal(Language::kPython, {"PyYAML", "zope.interface", "Foo__Bar"}),
            (std::vector<std::string>{"foo-bar", "pyyaml", "zope-interface"}));
}

TEST(EnvironmentKeyTest, OrderAndDoublesDoNotMatter) {
  EXPECT_EQ(normal(Language::kPython, {"b<2,>=1", "a[Y,x]==1.0", "B>=1,<2"}),
            (std::vector<std::string>{"a[x,y]==1.0", "b<2,>=1"}));
}

TEST(EnvironmentKeyTest, EveryFormOfVersionIsTaken) {
  for (const char* text :
       {"a", "a==1.2", "a===1.2", "a!=1", "a~=1.4", "a>1", "a<=2.*", "a==1!2.0+local.1", "a[b]>=1"}) {
    EXPECT_TRUE(normalize_requirements(Language::kPython, {text})) << text;
  }
}

TEST(EnvironmentKeyTest, NpmVersionsMayStandInQuotesAsLettaWritesThem) {
  EXPECT_EQ(normal(Language::kTypeScript, {"lodash@\"4.17.21\"", "@scope/pkg@^1.2.3", "left-pad", "next@latest"}),
            (std::vector<std::string>{"@scope/pkg@^1.2.3", "left-pad", "lodash@4.17.21", "next@latest"}));
}

TEST(EnvironmentKeyTest, WhatIsNoRequirementIsRefusedWithASentence) {
  const std::vector<std::string> all = {"",
                                        "-r",
                                        "--index-url=http://evil",
                                        "a b",
                                        "a\n--pre",
                                        "a;rm",
                                        "a`id`",
                                        "a$(id)",
                                        "a|b",
                                        "a&b",
                                        "http://host/a",
                                        "git+https://host/a",
                                        "file:a",
                                        "./a",
                                        "/etc",
                                        "../a",
                                        "a/b/c",
                                        "a.whl",
                                        "a.tar.gz",
                                        "~user",
                                        "a\\b",
                                        "a\"b",
                                        std::string("a\0b", 3),
                                        "\xc3\xa9",
                                        std::string(300, 'a')};
  for (const std::string& text : all) {
    for (const Language language : {Language::kPython, Language::kTypeScript}) {
      if (text == "~user" && language == Language::kTypeScript) continue;  // npm allows such names
      const auto result = normalize_requirements(language, {text});
      ASSERT_FALSE(result) << text;
      EXPECT_EQ(result.error().code, Code::kInvalid);
      EXPECT_NE(result.error().what.find("refused"), std::string::npos);
    }
  }
  for (const char* text : {"a==", "a=1", "a[", "a[]", "a[b", "a@http", "a@1", "a==1,", "a,b", "-a", ".a", "a-"}) {
    EXPECT_FALSE(normalize_requirements(Language::kPython, {text})) << text;
  }
  for (const char* text : {"user/repo", "a@npm:b", "a@user/repo", "@scope", "@/a", "a@", "a@\"\"", ".a", "_a"}) {
    EXPECT_FALSE(normalize_requirements(Language::kTypeScript, {text})) << text;
  }
}

TEST(EnvironmentKeyTest, AThousandRequirementsAreTooMany) {
  EXPECT_FALSE(normalize_requirements(Language::kPython, std::vector<std::string>(1000, "a")));
}

class KeyTest : public testing::Test {
 protected:
  std::string key() const { return environment_key(language_, image_, interpreter_, requirements_, index_); }

  Language language_ = Language::kPython;
  Template image_ = [] {
    Template image;
    image.name = "base";
    image.layers = {{"/nowhere", "/"}};
    return image;
  }();
  std::string interpreter_ = "python3";
  std::vector<std::string> requirements_ = {"a"};
  IndexSettings index_;
};

TEST_F(KeyTest, ChangesWithEverythingThatDecidesWhatIsInstalled) {
  const std::string before = key();
  EXPECT_EQ(before.size(), 64u);
  EXPECT_EQ(before, key());
  interpreter_ = "/usr/bin/python3";
  EXPECT_NE(before, key());
  interpreter_ = "python3";
  requirements_ = {"a", "b"};
  EXPECT_NE(before, key());
  requirements_ = {"a"};
  image_.layers[0].path = "/elsewhere";
  EXPECT_NE(before, key());
  image_.layers[0].path = "/nowhere";
  index_.variables["PIP_INDEX_URL"] = "https://host/simple";
  EXPECT_NE(before, key());
  index_.variables.clear();
  EXPECT_EQ(before, key());
  language_ = Language::kTypeScript;
  EXPECT_NE(before, key());
}

TEST_F(KeyTest, DoesNotChangeWithAPasswordAProxyOrACertificate) {
  index_.variables["PIP_INDEX_URL"] = "https://user:one@host/simple";
  const std::string before = key();
  index_.variables["PIP_INDEX_URL"] = "https://user:two@host/simple";
  index_.variables["HTTPS_PROXY"] = "http://proxy";
  index_.certificates = "PEM";
  EXPECT_EQ(before, key());
  language_ = Language::kTypeScript;
  const std::string npm = key();
  index_.npmrc = "//host/:_authToken=abcd\n";
  EXPECT_EQ(npm, key());
  index_.npmrc += "registry=https://host/\n";
  EXPECT_NE(npm, key());
}

}  // namespace
}  // namespace bj
