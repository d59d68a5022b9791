#include "tools/requirement.h"

#include "tools/vectors_for_test.h"

namespace bj {
namespace {

namespace json = boost::json;

TEST(RequirementTest, TextsAreAsObserved) {
  for (const json::value& value : vectors_of("requirement_strings")) {
    const json::object& vector = value.as_object();
    Requirement requirement;
    requirement.name = text_at(vector, "name");
    if (!vector.at("version").is_null()) requirement.version = text_at(vector, "version");
    const PackageKind kind = text_at(vector, "kind") == "pip" ? PackageKind::kPip : PackageKind::kNpm;
    EXPECT_EQ(requirement_text(kind, requirement), text_at(vector, "str"));
  }
}

TEST(RequirementTest, ValidationIsAsObserved) {
  for (const json::value& value : vectors_of("pip_requirement_validation")) {
    const json::object& vector = value.as_object();
    FieldErrors errors;
    read_requirement(vector.at("input"), {}, errors);
    EXPECT_EQ(errors.empty(), vector.at("valid").as_bool()) << value;
    json::array types;
    for (const FieldError& error : errors) types.emplace_back(error.type);
    if (const json::value* expected = vector.if_contains("error_types")) {
      EXPECT_EQ(json::value(types), *expected) << value;
    }
  }
}

TEST(RequirementTest, OnlyPlainPackagesAreInstalled) {
  for (const char* good : {"requests", "requests==2.31.0", "uvicorn[standard]>=0.2,<1", "a.b-c_d~=1.0", "x==4.1.0-beta",
                           "typing_extensions; python_version < '3.11'", "torch==2.0+cpu"}) {
    EXPECT_TRUE(check_requirement(PackageKind::kPip, good)) << good;
  }
  for (const char* bad :
       {"", "-r", "--index-url http://x", "a --index-url x", "a b/c", "https://x/y.whl", "a @ https://x", "./local",
        "../up", "a;rm$(x)", "a|b", "a&b", "a`b`", "a\nb", "git+ssh://x", "a==1\\", "é"}) {
    EXPECT_FALSE(check_requirement(PackageKind::kPip, bad)) << bad;
  }
  for (const char* good :
       {"lodash", "lodash@^4.17.0", "@scope/name@1.2.3", "@letta-ai/letta-client", "a@latest", "a@>=1.0 <2.0"}) {
    EXPECT_TRUE(check_requirement(PackageKind::kNpm, good)) << good;
  }
  for (const char* bad : {"-g", "a@file:../x", "user/repo", "https://x", "@/x", "@s", "a@git+ssh://x", "a@1;rm", "a\"b",
                          "a@1 --prefix", "../x"}) {
    EXPECT_FALSE(check_requirement(PackageKind::kNpm, bad)) << bad;
  }
}

TEST(RequirementTest, TheInstallersArgumentHasNoQuotes) {
  EXPECT_EQ(*install_argument(PackageKind::kNpm, {"lodash", "^4.17.0"}), "lodash@^4.17.0");
  EXPECT_EQ(*install_argument(PackageKind::kPip, {"numpy", std::nullopt}), "numpy");
  const auto refused = install_argument(PackageKind::kPip, {"--index-url", "http://evil"});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().what.find("options are not allowed"), std::string::npos);
}

}  // namespace
}  // namespace bj
