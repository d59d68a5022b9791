#include "store/agent_table.h"

#include <gtest/gtest.h>

#include "store/store_test_support.h"

namespace bj {
namespace {

class AgentTableTest : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    if (!IsSkipped()) store_ = open();
  }
  std::string tool(const std::string& name, const Actor& actor = {}) {
    ToolRow row;
    row.name = name;
    return store_->tools().upsert(actor, row)->id;
  }
  static BlockRow block(const std::string& label, const std::string& value) {
    BlockRow row;
    row.label = label;
    row.value = value;
    return row;
  }
  AgentRow agent(const std::string& name, const Actor& actor = {}) {
    NewAgent fresh;
    fresh.row.name = name;
    auto made = store_->agents().create(actor, std::move(fresh));
    EXPECT_TRUE(made) << made.error().what;
    return made ? *made : AgentRow();
  }
  std::string variables(const std::string& id) {
    std::string text;
    const auto list = store_->agents().variables(kDefaultOrganization, id);
    for (const VariableRow& row : *list) text += row.key + "=" + std::string(row.value.reveal()) + " ";
    return text;
  }
  Result<void> set(const std::string& id, std::vector<std::pair<std::string, std::string>> pairs) {
    std::vector<NewVariable> variables;
    for (const auto& [key, value] : pairs) variables.push_back({key, Secret(value), {}});
    return store_->agents().set_variables({}, id, variables);
  }

  std::unique_ptr<Store> store_;
};

TEST_P(AgentTableTest, AnAgentIsMadeWithAllThatHangsOnIt) {
  NewAgent fresh;
  fresh.row.name = "ada";
  fresh.row.project_id = "p";
  fresh.row.description = "d";
  fresh.tool_ids = {tool("t1"), tool("t2")};
  fresh.blocks = {block("persona", "I am"), block("human", "You are")};
  fresh.variables.push_back({"KEY", Secret("hunter2"), "why"});
  const auto made = store_->agents().create({}, std::move(fresh));
  ASSERT_TRUE(made) << made.error().what;
  EXPECT_TRUE(is_id("agent", made->id));
  const auto read = store_->agents().get(kDefaultOrganization, made->id);
  EXPECT_EQ(read->name, "ada");
  EXPECT_EQ(read->project_id, "p");
  EXPECT_EQ(store_->agents().tools(kDefaultOrganization, made->id)->size(), 2u);
  const auto blocks = store_->agents().blocks(kDefaultOrganization, made->id);
  ASSERT_EQ(blocks->size(), 2u);
  EXPECT_EQ((*blocks)[0].label, "persona");
  EXPECT_EQ((*blocks)[1].value, "You are");
  EXPECT_EQ(variables(made->id), "KEY=hunter2 ");
}

TEST_P(AgentTableTest, NothingIsMadeIfAPartIsMissing) {
  const Actor other = new_actor(*store_);
  for (const std::string& missing : {std::string("tool-missing"), tool("theirs", other)}) {
    NewAgent fresh;
    fresh.row.name = "ada";
    fresh.blocks = {block("persona", "x")};
    fresh.tool_ids = {missing};
    EXPECT_EQ(store_->agents().create({}, std::move(fresh)).error().code, Code::kNotFound);
  }
  EXPECT_EQ(store_->agents().list(kDefaultOrganization, {})->size(), 0u);
  EXPECT_EQ(store_->database().read("SELECT COUNT(*) FROM blocks")->rows[0].integer(0), 0);
}

TEST_P(AgentTableTest, OnlyAttachedToolsAreFoundByName) {
  const std::string id = agent("a").id;
  const std::string first = tool("first");
  tool("second");
  ASSERT_TRUE(store_->agents().attach_tool({}, id, first));
  ASSERT_TRUE(store_->agents().attach_tool({}, id, first));  // twice is once
  EXPECT_EQ(store_->agents().attached_tool(kDefaultOrganization, id, "first")->value().id, first);
  EXPECT_FALSE(store_->agents().attached_tool(kDefaultOrganization, id, "second")->has_value());
  ASSERT_TRUE(store_->agents().detach_tool({}, id, first));
  EXPECT_FALSE(store_->agents().attached_tool(kDefaultOrganization, id, "first")->has_value());
  ASSERT_TRUE(store_->agents().set_tools({}, id, {first}));
  ASSERT_TRUE(store_->tools().remove(kDefaultOrganization, first));
  EXPECT_EQ(store_->agents().tools(kDefaultOrganization, id)->size(), 0u);
}

TEST_P(AgentTableTest, ABlockIsChangedOnlyThroughItsOwnAgent) {
  const std::string mine = agent("mine").id;
  const std::string other = agent("other").id;
  const auto made = store_->agents().add_block({}, mine, block("human", "old"));
  ASSERT_TRUE(made) << made.error().what;
  const auto write = [](BlockRow& row) -> Result<void> {
    row.value = "new";
    return {};
  };
  EXPECT_EQ(store_->agents().change_block({}, other, made->id, write).error().code, Code::kNotFound);
  EXPECT_EQ(store_->agents().change_block(new_actor(*store_), mine, made->id, write).error().code, Code::kNotFound);
  EXPECT_EQ(store_->agents().blocks(kDefaultOrganization, mine)->at(0).value, "old");
  EXPECT_EQ(store_->agents().change_block({}, mine, made->id, write)->value, "new");
  EXPECT_EQ(store_->agents().blocks(kDefaultOrganization, mine)->at(0).value, "new");
  EXPECT_EQ(store_->agents().add_block({}, mine, block("human", "second")).error().code, Code::kConflict);
}

TEST_P(AgentTableTest, BlocksAreSharedAndOutliveTheirAgents) {
  const std::string first = agent("first").id;
  const auto shared = store_->agents().add_block({}, first, block("shared", "x"));
  NewAgent fresh;
  fresh.row.name = "second";
  fresh.block_ids = {shared->id};
  const auto second = store_->agents().create({}, std::move(fresh));
  ASSERT_TRUE(second) << second.error().what;
  ASSERT_TRUE(store_->agents().remove(kDefaultOrganization, first));
  EXPECT_EQ(store_->agents().blocks(kDefaultOrganization, second->id)->size(), 1u);
  ASSERT_TRUE(store_->agents().remove(kDefaultOrganization, second->id));
  EXPECT_EQ(store_->blocks().get(kDefaultOrganization, shared->id)->value, "x");
}

TEST_P(AgentTableTest, ABlockByItselfIsGivenAndTakenWithinItsOrganization) {
  const std::string id = agent("a").id;
  const auto made = store_->blocks().create({}, block("human", "x"));
  ASSERT_TRUE(made) << made.error().what;
  const Actor other = new_actor(*store_);
  const auto theirs = store_->blocks().create(other, block("persona", "y"));
  EXPECT_EQ(store_->agents().attach_block({}, id, theirs->id).error().code, Code::kNotFound);
  EXPECT_EQ(store_->blocks().get(kDefaultOrganization, theirs->id).error().code, Code::kNotFound);
  EXPECT_EQ(store_->blocks().remove(kDefaultOrganization, theirs->id).error().code, Code::kNotFound);
  const auto empty = [](BlockRow& row) -> Result<void> {
    row.value = "";
    return {};
  };
  EXPECT_EQ(store_->blocks().change({}, theirs->id, empty).error().code, Code::kNotFound);
  ASSERT_TRUE(store_->agents().attach_block({}, id, made->id));
  EXPECT_EQ(store_->agents().blocks(kDefaultOrganization, id)->size(), 1u);
  ASSERT_TRUE(store_->agents().detach_block({}, id, made->id));
  EXPECT_EQ(store_->agents().blocks(kDefaultOrganization, id)->size(), 0u);
  ASSERT_TRUE(store_->agents().attach_block({}, id, made->id));
  ASSERT_TRUE(store_->blocks().remove(kDefaultOrganization, made->id));
  EXPECT_EQ(store_->agents().blocks(kDefaultOrganization, id)->size(), 0u);
  EXPECT_EQ(store_->blocks().list(kDefaultOrganization, {})->size(), 0u);
  EXPECT_EQ(store_->blocks().list(other.organization, {}, "persona")->size(), 1u);
}

TEST_P(AgentTableTest, VariablesAreReplacedAsASetAndUnchangedOnesKept) {
  const std::string id = agent("a").id;
  ASSERT_TRUE(set(id, {{"A", "1"}, {"B", "2"}}));
  const auto before = store_->agents().variables(kDefaultOrganization, id);
  ASSERT_TRUE(set(id, {{"A", "1"}, {"C", "3"}}));
  EXPECT_EQ(variables(id), "A=1 C=3 ");
  const auto after = store_->agents().variables(kDefaultOrganization, id);
  EXPECT_EQ((*after)[0].id, (*before)[0].id);
  EXPECT_EQ((*after)[0].value_enc, (*before)[0].value_enc);
  ASSERT_TRUE(set(id, {}));
  EXPECT_EQ(variables(id), "");
  EXPECT_EQ(store_->agents().set_variables(new_actor(*store_), id, {}).error().code, Code::kNotFound);
}

TEST_P(AgentTableTest, AgentsAreListedChangedAndRemovedWithinTheirOrganization) {
  const AgentRow first = agent("first");
  const AgentRow second = agent("second");
  const Actor other = new_actor(*store_);
  const AgentRow theirs = agent("theirs", other);
  const Page after{first.id, {}, {}, Order::kAscending};
  EXPECT_EQ(store_->agents().list(kDefaultOrganization, after)->at(0).id, second.id);
  EXPECT_EQ(store_->agents().list(kDefaultOrganization, {}, "second")->size(), 1u);
  const auto rename = [](AgentRow& row) -> Result<void> {
    row.name = "renamed";
    return {};
  };
  EXPECT_EQ(store_->agents().change({}, first.id, rename)->name, "renamed");
  EXPECT_EQ(store_->agents().get(kDefaultOrganization, first.id)->name, "renamed");
  EXPECT_EQ(store_->agents().change({}, theirs.id, rename).error().code, Code::kNotFound);
  EXPECT_EQ(store_->agents().get(kDefaultOrganization, theirs.id).error().code, Code::kNotFound);
  EXPECT_EQ(store_->agents().remove(kDefaultOrganization, theirs.id).error().code, Code::kNotFound);
  EXPECT_EQ(store_->agents().attach_tool({}, theirs.id, tool("t")).error().code, Code::kNotFound);
  ASSERT_TRUE(set(first.id, {{"A", "1"}}));
  ASSERT_TRUE(store_->agents().remove(kDefaultOrganization, first.id));
  EXPECT_EQ(store_->database().read("SELECT COUNT(*) FROM agent_environment_variables")->rows[0].integer(0), 0);
}

BJ_ON_BOTH_ENGINES(AgentTableTest);

}  // namespace
}  // namespace bj
