#include "cli/letta_config.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

// "NAME=value@line", one a line.
std::string read(const std::string& text) {
  std::string all;
  for (const GivenSetting& setting : read_letta_config(text, "conf.yaml"))
    all += setting.name + "=" + setting.value + "@" + setting.origin.substr(setting.origin.find(':') + 1) + "\n";
  return all;
}

TEST(LettaConfigTest, NestedKeysBecomeTheNamesOfSettings) {
  EXPECT_EQ(read("# Letta's\n"
                 "letta:\n"
                 "  encryption:\n"
                 "    key: \"k: #1\"   # quoted\n"
                 "model:\n"
                 "  e2b:\n"
                 "    api_key: not-this\n"
                 "tool:\n"
                 "  e2b:\n"
                 "    api_key: 'it''s'\n"
                 "    sandbox_template_id: tpl # a comment\n"
                 "  tool_sandbox_timeout: 12.5\n"
                 "  tool_exec_autoreload_venv: No\n"
                 "  tool:\n"
                 "    exec_dir: /srv/tools\n"),
            "LETTA_ENCRYPTION_KEY=k: #1@4\n"
            "E2B_API_KEY=it's@10\n"
            "E2B_SANDBOX_TEMPLATE_ID=tpl@11\n"
            "TOOL_SANDBOX_TIMEOUT=12.5@12\n"
            "TOOL_EXEC_AUTORELOAD_VENV=false@13\n"
            "TOOL_EXEC_DIR=/srv/tools@15\n");
}

TEST(LettaConfigTest, WhatIsNoSettingIsPassedOver) {
  EXPECT_EQ(read("- a\n- b\n"), "");
  EXPECT_EQ(read("not yaml at all"), "");
  EXPECT_EQ(read("tool:\n  unknown: 1\n  e2b_api_key: ~\n  tool_exec_dir:\n  modal_token_id: [a]\n"
                 "  list:\n    - tool_exec_dir: /x\n  tool_exec_venv_name: \"open\n  e2b: {api_key: k}\n"),
            "");
  EXPECT_EQ(read("  tool_exec_dir: /before\ntool: \n  tool_exec_dir: /d\r\nother:\n  tool_exec_dir: /after\n"),
            "TOOL_EXEC_DIR=/d@3\n");
}

TEST(LettaConfigTest, FilesThatAreNotThereSayNothing) {
  const auto nowhere = [](const std::string&) { return std::string("/nonexistent"); };
  EXPECT_TRUE(letta_config_files(nowhere).empty());
}

}  // namespace
}  // namespace bj
