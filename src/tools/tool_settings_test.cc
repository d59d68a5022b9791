#include "tools/tool_settings.h"

#include "tools/vectors_for_test.h"

namespace bj {
namespace {

namespace json = boost::json;

std::vector<GivenSetting> environment(const json::object& variables) {
  std::vector<GivenSetting> given;
  for (const auto& [name, value] : variables) {
    given.push_back({std::string(name), std::string(value.as_string()), "environment " + std::string(name)});
  }
  return given;
}

json::value as_json(const TextSetting& setting) {
  return setting.value ? json::value(*setting.value) : json::value(nullptr);
}

TEST(ToolSettingsTest, LettasNamesAreReadAsObserved) {
  for (const json::value& value : vectors_of("settings")) {
    const json::object& vector = value.as_object();
    const auto settings = read_tool_settings(environment(vector.at("env").as_object()), {}, SettingNames::kLettaOnly);
    ASSERT_TRUE(settings) << value;
    EXPECT_EQ(sandbox_type_name(settings->sandbox_type()), text_at(vector, "sandbox_type")) << value;
    EXPECT_EQ(settings->modal_sandbox_enabled(), vector.at("modal_sandbox_enabled").as_bool()) << value;
    EXPECT_EQ(*settings->sandbox_timeout_s, vector.at("tool_sandbox_timeout").as_double()) << value;
    EXPECT_EQ(as_json(settings->exec_dir), vector.at("tool_exec_dir")) << value;
    EXPECT_EQ(as_json(settings->venv_name), vector.at("tool_exec_venv_name")) << value;
    EXPECT_EQ(*settings->autoreload_venv, vector.at("tool_exec_autoreload_venv").as_bool()) << value;
  }
}

TEST(ToolSettingsTest, AliasesCountAfterTheRealNames) {
  const auto alias = read_tool_settings(environment({{"LETTA_TOOL_SANDBOX_TIMEOUT", "5"},
                                                     {"LETTA_TOOL_EXECUTION_DIR", "/d"},
                                                     {"LETTA_TOOL_SANDBOX_VENV_NAME", "v"},
                                                     {"BELLJAR_ENCRYPTION_KEY", "k"}}),
                                        {});
  ASSERT_TRUE(alias);
  EXPECT_EQ(*alias->sandbox_timeout_s, 5.0);
  EXPECT_EQ(alias->exec_dir.value, "/d");
  EXPECT_EQ(alias->venv_name.value, "v");
  EXPECT_EQ(alias->encryption_key.value, "k");
  EXPECT_EQ(alias->exec_dir.origin, "environment LETTA_TOOL_EXECUTION_DIR");
  const auto both =
      read_tool_settings(environment({{"TOOL_SANDBOX_TIMEOUT", "7"}, {"LETTA_TOOL_SANDBOX_TIMEOUT", "5"}}), {});
  EXPECT_EQ(*both->sandbox_timeout_s, 7.0);
}

TEST(ToolSettingsTest, EnvironmentOverFileOverDefault) {
  const std::vector<GivenSetting> file = {{"e2b_api_key", "from-file", "config.toml:3"},
                                          {"tool_exec_dir", "/file", "config.toml:4"}};
  const auto settings = read_tool_settings(environment({{"E2B_API_KEY", ""}}), file);
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->sandbox_type(), SandboxType::kLocal);  // the empty string is a value
  EXPECT_EQ(settings->exec_dir.origin, "config.toml:4");
  EXPECT_EQ(settings->sandbox_timeout_s.origin, "default");
  EXPECT_EQ(settings->sandbox_defaults("/home/u").local_directory, "/file");
  EXPECT_EQ(ToolSettings().sandbox_defaults("/home/u").local_directory, "/home/u/.letta/tool_execution_dir");
}

TEST(ToolSettingsTest, WhatCannotBeReadNamesItsOrigin) {
  const auto number = read_tool_settings(environment({{"tool_sandbox_timeout", "soon"}}), {});
  ASSERT_FALSE(number);
  EXPECT_EQ(number.error().what,
            "tool_sandbox_timeout (environment tool_sandbox_timeout) must be a number, not 'soon'");
  EXPECT_FALSE(read_tool_settings(environment({{"TOOL_EXEC_AUTORELOAD_VENV", ""}}), {}));
  const auto unknown = read_tool_settings({}, {{"e2b_api_kee", "x", "config.toml:9"}});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().what, "config.toml:9: there is no tool setting \"e2b_api_kee\"");
}

TEST(ToolSettingsTest, SecretsAreShownMasked) {
  const auto settings = read_tool_settings(environment({{"E2B_API_KEY", "e2b_secret"}, {"TOOL_EXEC_DIR", "/d"}}), {});
  ASSERT_TRUE(settings);
  bool seen = false;
  for (const ShownSetting& shown : shown_settings(*settings)) {
    EXPECT_EQ(shown.value.find("secret"), std::string::npos);
    if (shown.name == "E2B_API_KEY") seen = shown.value == "****" && shown.origin == "environment E2B_API_KEY";
  }
  EXPECT_TRUE(seen);
}

}  // namespace
}  // namespace bj
