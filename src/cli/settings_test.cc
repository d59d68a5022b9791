#include "cli/settings.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "cli/config_file.h"
#include "cli/limit_fields.h"
#include "sys/scratch_directory_for_test.h"

namespace bj {
namespace {

using Variables = std::map<std::string, std::string>;

Lookup lookup(Variables variables) {
  return [variables = std::move(variables)](const std::string& name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::string() : found->second;
  };
}

class SettingsTest : public ::testing::Test {
 protected:
  std::string write(const std::string& path, const std::string& text) const {
    const std::filesystem::path full = home_ + "/" + path;
    std::filesystem::create_directories(full.parent_path());
    std::ofstream(full) << text;
    return full;
  }

  ScratchDirectory own_directory_;
  const std::string& home_ = own_directory_.path();
};

std::string refusal(const std::string& text) {
  Settings settings;
  const Result<void> applied = apply_config(text, "c.toml", settings);
  return applied ? "accepted" : applied.error().what;
}

TEST_F(SettingsTest, EnvironmentGoesOverTheFileAndTheFileOverDefaults) {
  const std::string file = write("c.toml", "template = \"mine\"\n[limits]\nmemory = \"256M\"\ntimeout = \"5s\"\n");
  const auto settings = load_settings(file, true, lookup({{"BELLJAR_TIMEOUT", "7s"}}));
  ASSERT_TRUE(settings) << settings.error().what;
  EXPECT_EQ(settings->template_name, "mine");
  EXPECT_EQ(settings->limits.memory_bytes, 256u << 20);
  EXPECT_EQ(settings->limits.wall_ms, 7000u);
  EXPECT_TRUE(settings->timeout_given);
  EXPECT_EQ(settings->limits.processes, Limits{}.processes);
}

TEST_F(SettingsTest, TheUsersOwnFileIsFoundByItsPlace) {
  write(".config/belljar/config.toml", "data = \"/srv/jar\"\n");
  EXPECT_EQ(load_settings("", false, lookup({{"HOME", home_}}))->data_directory, "/srv/jar");
  write("xdg/belljar/config.toml", "data = \"/srv/xdg\"\n");
  const auto xdg = load_settings("", false, lookup({{"HOME", home_}, {"XDG_CONFIG_HOME", home_ + "/xdg"}}));
  EXPECT_EQ(xdg->data_directory, "/srv/xdg");
}

TEST_F(SettingsTest, AFileThatWasNamedMustBeThere) {
  const auto settings = load_settings(home_ + "/none.toml", true, lookup({}));
  ASSERT_FALSE(settings);
  EXPECT_NE(settings.error().what.find("none.toml"), std::string::npos);
}

TEST_F(SettingsTest, EveryLimitHasAVariable) {
  for (const LimitField& field : limit_fields()) {
    const std::string value = field.kind == LimitKind::kTime ? "9s" : field.kind == LimitKind::kSize ? "20M" : "133";
    const auto settings = load_settings(write("empty.toml", ""), true, lookup({{variable_of(field), value}}));
    ASSERT_TRUE(settings) << settings.error().what;
    EXPECT_NE(settings->limits, Limits{}) << field.key;
  }
}

TEST_F(SettingsTest, TimesMayBeGivenInMilliseconds) {
  const auto settings =
      load_settings(write("c.toml", "[limits]\ncpu_time_ms = 40\n"), true, lookup({{"BELLJAR_TIMEOUT_MS", "250"}}));
  ASSERT_TRUE(settings) << settings.error().what;
  EXPECT_EQ(settings->limits.wall_ms, 250u);
  EXPECT_EQ(settings->limits.cpu_ms, 40u);
}

TEST_F(SettingsTest, ABadVariableIsNamed) {
  const auto settings = load_settings(write("c.toml", ""), true, lookup({{"BELLJAR_MEMORY", "lots"}}));
  ASSERT_FALSE(settings);
  EXPECT_NE(settings.error().what.find("BELLJAR_MEMORY"), std::string::npos);
}

TEST_F(SettingsTest, DataLiesWhereTheUserMayWrite) {
  EXPECT_EQ(default_data_directory(true, lookup({})).value(), "/var/lib/belljar");
  EXPECT_EQ(default_data_directory(false, lookup({{"HOME", "/home/a"}})).value(), "/home/a/.local/share/belljar");
  EXPECT_EQ(default_data_directory(false, lookup({{"XDG_DATA_HOME", "/d"}})).value(), "/d/belljar");
  EXPECT_FALSE(default_data_directory(false, lookup({})));
}

TEST(ConfigFileTest, EverySettingIsRead) {
  Settings settings;
  const Result<void> applied = apply_config(
      "data = \"/d\"\ninterpreter = \"python3.11\"\nrequire_seal = \"full\"\n[limits]\ncpus = 0.5\nopen_files = 256\n"
      "[pool.python]\nleast = 1\nmost = 2\nwarm = 1\nidle = \"5s\"\n[pool.node]\nmost = 9\n[pool.gated]\nleast = 3\n",
      "c.toml", settings);
  ASSERT_TRUE(applied) << applied.error().what;
  EXPECT_EQ(settings.data_directory, "/d");
  EXPECT_EQ(settings.interpreter, "python3.11");
  EXPECT_TRUE(settings.require_full_seal);
  EXPECT_EQ(settings.limits.cpus, 0.5);
  EXPECT_EQ(settings.limits.open_files, 256u);
  EXPECT_EQ(settings.python_pool.most, 2u);
  EXPECT_EQ(settings.python_pool.idle, std::chrono::seconds(5));
  EXPECT_EQ(settings.node_pool.most, 9u);
  EXPECT_EQ(settings.gated_pool.least, 3u);
}

TEST(ConfigFileTest, WhatIsNotKnownIsRefusedWithItsLine) {
  EXPECT_EQ(refusal("data = \"/d\"\nfrob = 1\n"), "c.toml:2: there is no setting \"frob\"");
  EXPECT_EQ(refusal("[limits]\n\ntimeuot = 1\n"), "c.toml:3: there is no limit \"timeuot\"");
  EXPECT_EQ(refusal("[pool.ruby]\n"), "c.toml:1: there is no pool \"ruby\", only python, node and gated");
  EXPECT_NE(refusal("[pool.python]\nbig = 1\n").find("c.toml:2: there is no pool setting \"big\""), std::string::npos);
}

TEST(ConfigFileTest, WrongTypesAreRefusedWithTheirLine) {
  EXPECT_EQ(refusal("data = 3\n"), "c.toml:1: data must be a string in quotes");
  EXPECT_EQ(refusal("limits = 3\n"), "c.toml:1: limits must be a table: [limits]");
  EXPECT_NE(refusal("[limits]\nmemory = true\n").find("c.toml:2: memory must be a number or a string"),
            std::string::npos);
  EXPECT_NE(refusal("[limits]\nmemory = -5\n").find("c.toml:2: memory: "), std::string::npos);
  EXPECT_NE(refusal("[pool.python]\nleast = 1.5\n").find("c.toml:2: least must be a whole number"), std::string::npos);
  EXPECT_NE(refusal("require_seal = \"most\"\n").find("c.toml:1"), std::string::npos);
  EXPECT_NE(refusal("[limits\n").find("c.toml:1: "), std::string::npos);
}

TEST(LimitFieldsTest, RangesKeepASandboxStartable) {
  Limits limits;
  for (const LimitField& field : limit_fields()) {
    if (field.whole != &Limits::memory_bytes) continue;
    const Result<void> set = set_limit(field, "1", limits);
    ASSERT_FALSE(set);
    EXPECT_EQ(set.error().what, "memory must be between 16 MiB and 1 TiB");
    EXPECT_EQ(limits, Limits{});
  }
}

TEST(LimitFieldsTest, TheRangeOfACountIsShownInWholeNumbers) {
  Limits limits;
  for (const LimitField& field : limit_fields()) {
    if (field.whole != &Limits::open_files) continue;
    const Result<void> set = set_limit(field, "1", limits);
    ASSERT_FALSE(set);
    EXPECT_EQ(set.error().what, "open_files must be between 128 and 1048576");
  }
}

TEST_F(SettingsTest, LimitsOfKeysPolicyAndCredentialsAreSettings) {
  const std::string file = write("c.toml",
                                 "[server]\nrate_limit = 2.5\nruns_at_once = 3\nbody_bytes = \"1M\"\n"
                                 "[network]\npolicy = \"packages\"\n[credentials]\ndirectory = \"/etc/c\"\n");
  const auto settings = load_settings(file, true, lookup({{"BELLJAR_BURST", "9"}, {"BELLJAR_RUNS_AT_ONCE", "0"}}));
  ASSERT_TRUE(settings) << settings.error().what;
  EXPECT_EQ(settings->rates.requests_per_second, 2.5);
  EXPECT_EQ(settings->rates.burst, 9);
  EXPECT_EQ(settings->rates.runs_at_once, 0);
  EXPECT_EQ(settings->rates.body_bytes, 1u << 20);
  EXPECT_EQ(settings->network, "packages");
  EXPECT_EQ(settings->credentials_directory, "/etc/c");
  EXPECT_EQ(settings->origins.at("server.rate_limit"), file + ":2");
  EXPECT_EQ(settings->origins.at("server.burst"), "environment BELLJAR_BURST");
  EXPECT_NE(refusal("[server]\nrate_limit = -1\n").find("c.toml:2"), std::string::npos);
  EXPECT_NE(refusal("[server]\nodd = 1\n").find("c.toml:2"), std::string::npos);
  EXPECT_NE(refusal("[network]\nodd = \"x\"\n").find("only policy"), std::string::npos);
  EXPECT_FALSE(load_settings(file, true, lookup({{"BELLJAR_BURST", "0"}})));
}

}  // namespace
}  // namespace bj
