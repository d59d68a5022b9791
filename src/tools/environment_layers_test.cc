#include "tools/environment_layers.h"

#include "tools/vectors_for_test.h"

namespace bj {
namespace {

namespace json = boost::json;

VariableLayer layer_at(const json::object& vector, std::string_view key) {
  VariableLayer layer;
  for (const auto& [name, value] : vector.at(key).as_object()) {
    layer[std::string(name)] = value.is_null() ? std::nullopt : std::optional(std::string(value.as_string()));
  }
  return layer;
}

TEST(EnvironmentLayersTest, LaterLayersWinAsObserved) {
  const json::object& vector = letta_vectors().at("env_layering").as_object();
  EnvironmentLayers layers;
  layers.sandbox = layer_at(vector, "global");
  layers.caller = layer_at(vector, "provided");
  layers.agent = layer_at(vector, "agent");
  layers.additional = layer_at(vector, "additional");
  layers.tool_id = text_at(vector, "tool_id");
  layers.agent_id = text_at(vector, "agent_id");
  layers.project_id = text_at(vector, "project_id");
  Variables expected;
  for (const auto& [name, value] : layer_at(vector, "result_non_local")) expected[name] = *value;
  expected["PROJECT_ID"] = *layers.project_id;  // the executor's own layer, which the observed function is not given
  EXPECT_EQ(layered_environment(layers), expected);
}

TEST(EnvironmentLayersTest, TheCallerCanOverrideCredentialsButNotTheIds) {
  EnvironmentLayers layers;
  layers.credentials = {{"TOKEN", "webhook"}, {"PROJECT_ID", "webhook"}};
  layers.caller = {{"TOKEN", "caller"}, {"LETTA_AGENT_ID", "spoof"}, {"GONE", std::nullopt}};
  layers.sandbox = {{"GONE", "below"}};
  layers.agent_id = "agent-1";
  layers.project_id = "p";
  layers.tool_id = "tool-1";
  const Variables variables = layered_environment(layers);
  EXPECT_EQ(variables.at("TOKEN"), "caller");
  EXPECT_EQ(variables.at("LETTA_AGENT_ID"), "agent-1");
  EXPECT_EQ(variables.at("PROJECT_ID"), "p");
  EXPECT_FALSE(variables.contains("GONE"));
}

TEST(EnvironmentLayersTest, AStoredVariableWithoutANameStopsNoCall) {
  EnvironmentLayers layers;
  layers.sandbox = {{"", "x"}, {"A", "a"}};
  layers.tool_id = "tool-1";
  EXPECT_EQ(layered_environment(layers), (Variables{{"A", "a"}, {"LETTA_TOOL_ID", "tool-1"}}));
  layers.caller = {{"", "x"}};
  EXPECT_FALSE(check_variables(layered_environment(layers)));
}

TEST(EnvironmentLayersTest, OfTheServersEnvironmentOnlyTheAllowedArrives) {
  const char* server[] = {"PATH=/bin",     "LANG=C",         "LC_ALL=C.UTF-8",  "TZ=UTC", "AWS_SECRET=x",
                          "E2B_API_KEY=k", "HTTP_PROXY=p:1", "https_proxy=p:2", "broken", nullptr};
  const Variables few = allowed_from_server(server, ProxyVariables::kDrop);
  EXPECT_EQ(few, (Variables{{"PATH", "/bin"}, {"LANG", "C"}, {"LC_ALL", "C.UTF-8"}, {"TZ", "UTC"}}));
  EXPECT_EQ(allowed_from_server(server, ProxyVariables::kPass).size(), 6u);
}

TEST(EnvironmentLayersTest, LocalCallsAlwaysHaveThePlainTerminal) {
  EnvironmentLayers layers;
  layers.caller = {{"TERM", "xterm"}, {"SECRET", "s3"}};
  layers.tool_id = "tool-1";
  const Variables variables = local_environment({{"PATH", "/bin"}}, layers);
  EXPECT_EQ(variables.at("TERM"), "dumb");
  EXPECT_EQ(variables.at("PYTHONWARNINGS"), "ignore");
  EXPECT_EQ(variables.at("NO_COLOR"), "1");
  EXPECT_EQ(variables.at("PYTHONUNBUFFERED"), "1");
  EXPECT_EQ(variables.at("SECRET"), "s3");
  EXPECT_FALSE(variables.contains("LETTA_AGENT_ID"));
}

TEST(EnvironmentLayersTest, WhatNoProcessCanHaveIsRefusedWithoutItsValue) {
  EXPECT_TRUE(check_variables({{"A", "b=c"}}));
  EXPECT_FALSE(check_variables({{"A=B", "x"}}));
  EXPECT_FALSE(check_variables({{"", "x"}}));
  const auto refused = check_variables({{"A", std::string("secret\0x", 8)}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().what.find("secret"), std::string::npos);
}

}  // namespace
}  // namespace bj
