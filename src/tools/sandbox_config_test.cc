#include "tools/sandbox_config.h"

#include "tools/python_text.h"
#include "tools/vectors_for_test.h"

namespace bj {
namespace {

namespace json = boost::json;

const SandboxDefaults kDefaults{"${HOME}/.letta/tool_execution_dir", std::nullopt};

json::value loads(std::string_view text) { return python_loads(text).value(); }

SandboxType chosen(std::string_view text) {
  const auto config = read_sandbox_config(loads(text), {"body", "config"}, kDefaults);
  EXPECT_TRUE(config) << text;
  return config ? config->type : SandboxType::kLocal;
}

TEST(SandboxConfigTest, TheUnionChoosesAndStoresAsObserved) {
  for (const json::value& value : vectors_of("config_union_resolution")) {
    const json::object& vector = value.as_object();
    const auto config = read_sandbox_config(vector.at("input"), {"body", "config"}, kDefaults);
    ASSERT_TRUE(config) << value;
    EXPECT_EQ(sandbox_type_name(config->type), text_at(vector, "type")) << value;
    EXPECT_EQ(json::value(config->full), vector.at("stored_on_create")) << value;
    EXPECT_EQ(json::value(config->given), vector.at("stored_on_patch")) << value;
  }
}

TEST(SandboxConfigTest, TiesGoToTheExactThenTheEarliest) {
  EXPECT_EQ(chosen(R"({"timeout":60,"language":"typescript"})"), SandboxType::kE2b);
  EXPECT_EQ(chosen(R"({"template":"t"})"), SandboxType::kLocal);
  EXPECT_EQ(chosen(R"({"use_venv":"true","timeout":60})"), SandboxType::kE2b);
  EXPECT_EQ(chosen(R"({"use_venv":true,"timeout":"60"})"), SandboxType::kLocal);
  EXPECT_EQ(chosen(R"({"use_venv":"yes","timeout":"60"})"), SandboxType::kLocal);
  EXPECT_EQ(chosen(R"({"pip_requirements":null})"), SandboxType::kE2b);
  EXPECT_EQ(chosen(R"({"venv_name":5,"template":5})"), SandboxType::kModal);
}

TEST(SandboxConfigTest, AnExplicitTypeDecides) {
  EXPECT_EQ(chosen(R"({"type":"modal"})"), SandboxType::kModal);
  EXPECT_EQ(chosen(R"({"type":"modal","timeout":60,"language":"python"})"), SandboxType::kModal);
  EXPECT_EQ(chosen(R"({"type":"local","timeout":60})"), SandboxType::kLocal);
  const auto wrong = read_sandbox_config(loads(R"({"type":"docker"})"), {"body", "config"}, kDefaults);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error()[0].msg, "Input should be 'e2b', 'modal' or 'local'");
}

TEST(SandboxConfigTest, ANetworkPolicyMakesItLocalAndIsCheckedAndElseNothingIsStoredOfIt) {
  const auto read = [](std::string_view text) {
    return read_sandbox_config(loads(text), {"body", "config"}, kDefaults);
  };
  const auto open = read(R"({"network": "open", "credentials": ["github"], "timeout": 60})");
  ASSERT_TRUE(open);
  EXPECT_EQ(open->type, SandboxType::kLocal);
  EXPECT_EQ(open->full.at("network"), "open");
  EXPECT_EQ(open->given.at("credentials"), json::value(json::array{"github"}));
  EXPECT_EQ(read(R"({"network": null})")->full.at("network"), "none");
  EXPECT_FALSE(read(R"({"use_venv": true})")->full.contains("network"));
  for (const char* const wrong : {R"({"network": {"rules": "*"}})", R"({"credentials": "github"})",
                                  R"({"network": {"private_addresses": ["10.0.0.1:80"]}})",
                                  R"({"type": "e2b", "network": "open"})", R"({"type": "modal", "credentials": []})"}) {
    EXPECT_FALSE(read(wrong)) << wrong;
  }
}

TEST(SandboxConfigTest, WhatFitsNoModelTellsOfAllThree) {
  const auto config = read_sandbox_config(loads(R"({"timeout":"abc","use_venv":3,"language":5})"), {"body"}, kDefaults);
  ASSERT_FALSE(config);
  std::vector<std::string> types;
  for (const FieldError& error : config.error()) types.push_back(error.type);
  EXPECT_EQ(types, (std::vector<std::string>{"bool_parsing", "int_parsing", "int_parsing", "literal_error"}));
  EXPECT_EQ(config.error()[3].loc, (json::array{"body", "ModalSandboxConfig", "language"}));
}

TEST(SandboxConfigTest, TheSettingsTemplateIsFilledInAndOverridesTheStoredOne) {
  const SandboxDefaults defaults{"/d", "from-settings"};
  EXPECT_EQ(default_sandbox_config(SandboxType::kE2b, defaults),
            (json::object{{"timeout", 300}, {"template", "from-settings"}}));
  EXPECT_EQ(e2b_config({{"timeout", 5}, {"template", "stored"}}, defaults)->template_id, "from-settings");
  EXPECT_EQ(e2b_config({{"timeout", 5}, {"template", "stored"}}, kDefaults)->template_id, "stored");
}

TEST(SandboxConfigTest, StoredConfigurationsAreReadTyped) {
  const auto local =
      local_config({{"use_venv", true}, {"pip_requirements", {{{"name", "a"}, {"version", "1"}}}}}, kDefaults);
  ASSERT_TRUE(local);
  EXPECT_EQ(local->directory, kDefaults.local_directory);
  EXPECT_EQ(requirement_text(PackageKind::kPip, local->pip.at(0)), "a==1");
  EXPECT_EQ(modal_config({{"language", "typescript"}})->timeout_s, 60);
  EXPECT_FALSE(modal_config({{"language", "ruby"}}));
}

TEST(SandboxConfigTest, AModalUpsertStaysModal) {
  const auto changed =
      read_sandbox_config_as(SandboxType::kModal, loads(R"({"timeout":120,"language":"python"})"), {"body"}, kDefaults);
  ASSERT_TRUE(changed);
  EXPECT_EQ(changed->type, SandboxType::kModal);
  EXPECT_TRUE(check_same_type(SandboxType::kModal, changed->type));
  EXPECT_EQ(check_same_type(SandboxType::kLocal, SandboxType::kE2b).error().what,
            "Mismatched type for sandbox config update: tried to update sandbox_config of type SandboxType.LOCAL with "
            "config of type SandboxType.E2B");
}

}  // namespace
}  // namespace bj
