#include "tools/tool_rules.h"

#include "tools/vectors_for_test.h"

namespace bj {
namespace {

namespace json = boost::json;

json::value loads(std::string_view text) { return python_loads(text).value(); }

TEST(ToolRulesTest, ACreateRequestIsReadWithItsDefaults) {
  FieldErrors errors;
  const json::value body =
      loads(R"({"source_code": "def f(): pass", "pip_requirements": [{"name": "a", "version": "1"}], "tags": null})");
  const ToolCreate tool = read_tool_create(body, errors);
  EXPECT_TRUE(errors.empty()) << field_errors_repr(errors);
  EXPECT_EQ(tool.source_type, "python");
  EXPECT_EQ(tool.return_char_limit, 50000);
  EXPECT_FALSE(tool.default_requires_approval);
  EXPECT_FALSE(tool.enable_parallel_execution);
  EXPECT_EQ(requirement_text(PackageKind::kPip, tool.pip->at(0)), "a==1");
}

TEST(ToolRulesTest, ACreateRequestIsRefusedWithEveryReason) {
  FieldErrors errors;
  read_tool_create(loads(R"({"name": "f", "return_char_limit": 1000001, "source_type": "ruby"})"), errors);
  std::vector<std::string> types;
  for (const FieldError& error : errors) types.push_back(error.type);
  EXPECT_EQ(types, (std::vector<std::string>{"missing", "literal_error", "less_than_equal", "extra_forbidden"}));
}

TEST(ToolRulesTest, WhatIsNoTextOrTooLargeIsToldAsThat) {
  FieldErrors errors;
  read_tool_create(loads(R"({"source_code": "x", "source_type": 5, "return_char_limit": 9223372036854775808})"),
                   errors);
  ASSERT_EQ(errors.size(), 2u) << field_errors_repr(errors);
  EXPECT_EQ(errors[0].type, "string_type");
  EXPECT_EQ(errors[1].type, "less_than_equal");
}

TEST(ToolRulesTest, TypescriptNeedsItsSchema) {
  FieldErrors errors;
  read_tool_create(loads(R"({"source_code": "export function f(){}", "source_type": "typescript"})"), errors);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_NE(field_errors_repr(errors).find("TypeScript tools require an explicit json_schema"), std::string::npos);
  errors.clear();
  read_tool_create(loads(R"({"source_code": "x", "source_type": "typescript", "json_schema": {"name": "f"}})"), errors);
  EXPECT_TRUE(errors.empty());
}

TEST(ToolRulesTest, AnUpdateIgnoresWhatItDoesNotKnow) {
  FieldErrors errors;
  const ToolUpdate update = read_tool_update(
      loads(R"({"odd": 1, "return_char_limit": 5, "description": null, "metadata_": {"a": 1}})"), errors);
  EXPECT_TRUE(errors.empty()) << field_errors_repr(errors);
  EXPECT_EQ(update.return_char_limit, 5);
  EXPECT_FALSE(update.description);
  EXPECT_FALSE(update.enable_parallel_execution);  // stays as it is
  EXPECT_TRUE(update.metadata);
  read_tool_update(loads(R"({"return_char_limit": 0, "source_type": 5})"), errors);
  EXPECT_EQ(errors.size(), 2u);
}

TEST(ToolRulesTest, ARunNeedsSourceAndArguments) {
  FieldErrors errors;
  const ToolRunFromSource run =
      read_tool_run(loads(R"({"source_code": "s", "args": {"x": 1}, "env_vars": {"A": "b"}})"), errors);
  EXPECT_TRUE(errors.empty());
  EXPECT_EQ(run.env_vars->at("A"), "b");
  read_tool_run(loads(R"({"args": [], "env_vars": {"A": 1}, "extra": 1})"), errors);
  EXPECT_EQ(errors.size(), 4u) << field_errors_repr(errors);
  EXPECT_TRUE(check_runnable(std::nullopt));
  EXPECT_TRUE(check_runnable("typescript"));
  EXPECT_FALSE(check_runnable("json"));
}

TEST(ToolRulesTest, AToolsNameIsItsSchemas) {
  EXPECT_EQ(*schema_name({{"name", "f"}}), "f");
  EXPECT_FALSE(schema_name({}));
  EXPECT_FALSE(schema_name({{"name", ""}}));
  EXPECT_FALSE(schema_name({{"name", 5}}));
}

TEST(ToolRulesTest, PatchedSourceStillHasTheFunction) {
  EXPECT_TRUE(check_source_has_function("async def f(): pass", "python", "f"));
  EXPECT_FALSE(check_source_has_function("def g(): pass", "python", "f"));
  EXPECT_TRUE(check_source_has_function("export function f() {}", "typescript", "f"));
  EXPECT_FALSE(check_source_has_function("def f(): pass", "typescript", "f"));
}

TEST(ToolRulesTest, TypesAreThoseOfTheContract) {
  EXPECT_TRUE(is_tool_type("letta_multi_agent_core"));
  EXPECT_FALSE(is_tool_type("CUSTOM"));
  EXPECT_TRUE(is_source_type("json"));
  EXPECT_FALSE(is_source_type("ruby"));
}

}  // namespace
}  // namespace bj
