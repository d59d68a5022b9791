#include "tools/agent_memory.h"

#include <gtest/gtest.h>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

namespace bj {
namespace {

namespace json = boost::json;
using Changes = std::map<std::string, std::string>;

BlockRow block(const std::string& id, const std::string& label, const std::string& value, bool read_only = false) {
  BlockRow row;
  row.id = id;
  row.label = label;
  row.value = value;
  row.limit = 10;
  row.read_only = read_only;
  return row;
}

AgentForTool agent() {
  AgentForTool made;
  made.row.id = "agent-1";
  made.blocks = {block("block-1", "human", "before"), block("block-2", "persona", "me"),
                 block("block-3", "fixed", "stays", true)};
  return made;
}

json::value returned(const char* id, const char* label, json::value value) {
  return {{"memory", {{"blocks", json::array{{{"id", id}, {"label", label}, {"value", std::move(value)}}}}}}};
}

TEST(AgentMemoryTest, AChangedValueOfAGivenBlockIsAChange) {
  EXPECT_EQ(changed_blocks(agent(), returned("block-1", "human", "after")), (Changes{{"block-1", "after"}}));
  EXPECT_EQ(changed_blocks(agent(), returned("block-1", "human", "")), (Changes{{"block-1", ""}}));
}

TEST(AgentMemoryTest, WhatWasSentComesBackWithoutChanges) {
  EXPECT_EQ(changed_blocks(agent(), agent_state_json(agent())), Changes());
}

TEST(AgentMemoryTest, ForgedBlocksAreLeftOut) {
  EXPECT_EQ(changed_blocks(agent(), returned("block-9", "human", "x")), Changes());
  EXPECT_EQ(changed_blocks(agent(), returned("block-1", "persona", "x")), Changes());
  EXPECT_EQ(changed_blocks(agent(), returned("block-1", "HUMAN", "x")), Changes());
  EXPECT_EQ(changed_blocks(agent(), returned("block-3", "fixed", "x")), Changes());
  EXPECT_EQ(changed_blocks(agent(), returned("", "", "x")), Changes());
}

TEST(AgentMemoryTest, SwappedLabelsChangeNothing) {
  json::value state = agent_state_json(agent());
  json::array& blocks = state.at("memory").at("blocks").as_array();
  std::swap(blocks[0].at("label"), blocks[1].at("label"));
  blocks[0].at("value") = blocks[1].at("value") = "forged";
  EXPECT_EQ(changed_blocks(agent(), state), Changes());
}

TEST(AgentMemoryTest, ABlockCanNotMakeItselfWritable) {
  json::value state = agent_state_json(agent());
  json::value& fixed = state.at("memory").at("blocks").as_array()[2];
  fixed.at("read_only") = false;
  fixed.at("value") = "mine";
  EXPECT_EQ(changed_blocks(agent(), state), Changes());
}

TEST(AgentMemoryTest, TheLimitCountsCharactersAndIsTheOneThatWasSent) {
  EXPECT_EQ(changed_blocks(agent(), returned("block-1", "human", "0123456789")).size(), 1u);
  EXPECT_EQ(changed_blocks(agent(), returned("block-1", "human", "ääääääääää")).size(), 1u);
  EXPECT_EQ(changed_blocks(agent(), returned("block-1", "human", "0123456789a")), Changes());
  json::value state = returned("block-1", "human", "0123456789a");
  state.at("memory").at("blocks").as_array()[0].as_object()["limit"] = 1000;
  EXPECT_EQ(changed_blocks(agent(), state), Changes());
}

TEST(AgentMemoryTest, AnythingElseIsNoState) {
  const json::value odd[] = {nullptr,
                             1,
                             "x",
                             json::array{1},
                             json::object{},
                             {{"memory", 1}},
                             {{"memory", {{"blocks", 5}}}},
                             {{"memory", {{"blocks", {1, "x", nullptr, json::array{}}}}}},
                             returned("block-1", "human", 5),
                             returned("block-1", "human", nullptr),
                             returned("block-1", "human", json::array{"x"})};
  for (const json::value& state : odd) EXPECT_EQ(changed_blocks(agent(), state), Changes()) << state;
}

TEST(AgentMemoryTest, AHundredThousandForgedBlocksAreOneChangeAtMost) {
  json::array blocks;
  for (int i = 0; i < 100'000; ++i) {
    blocks.push_back({{"id", "block-" + std::to_string(i)}, {"label", "human"}, {"value", "x"}});
  }
  const json::value state = {{"memory", {{"blocks", std::move(blocks)}}}};
  EXPECT_EQ(changed_blocks(agent(), state), (Changes{{"block-1", "x"}}));
}

TEST(AgentMemoryTest, AToolSeesNoSecretsOfItsAgent) {
  AgentForTool made = agent();
  VariableRow secret;
  secret.key = "TOKEN";
  secret.value = Secret("hunter2");
  made.variables.push_back(std::move(secret));
  const std::string state = json::serialize(agent_state_json(made));
  EXPECT_EQ(state.find("hunter2"), std::string::npos);
  EXPECT_NE(state.find("before"), std::string::npos);
}

}  // namespace
}  // namespace bj
