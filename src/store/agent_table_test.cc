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
  Result<AgentRow> set(const std::string& id, std::vector<std::pair<std::string, std::string>> pairs,
                       const Actor& actor = {}) {
    AgentChange change;
    change.variables.emplace();
    for (const auto& [key, value] : pairs) change.variables->push_back({key, Secret(value), {}});
    return store_->agents().change(actor, id, change);
  }
  // Of the agents that one condition of a list leaves.
  template <class Field, class Value>
  std::string names(Field AgentFilter::* field, Value value) {
    AgentFilter filter;
    filter.*field = std::move(value);
    std::string text;
    const auto list = store_->agents().list(kDefaultOrganization, {}, filter);
    for (const AgentRow& row : *list) text += row.name + " ";
    return text;
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
  AgentChange change;
  change.tool_ids = {first};
  ASSERT_TRUE(store_->agents().change({}, id, change));
  EXPECT_EQ(store_->agents().tools(kDefaultOrganization, id)->size(), 1u);
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
  BlockFilter persona;
  persona.label = "persona";
  EXPECT_EQ(store_->blocks().list(other.organization, {}, persona)->size(), 1u);
}

TEST_P(AgentTableTest, BlocksAreFoundByPartsOfWhatTheyHold) {
  BlockRow human = block("human", "Likes 100% tea.");
  human.description = "Who is asking";
  ASSERT_TRUE(store_->blocks().create({}, human));
  ASSERT_TRUE(store_->blocks().create({}, block("persona", "A helper.")));
  const auto found = [&](MaybeText BlockFilter::* part, const std::string& text) {
    BlockFilter filter;
    filter.*part = text;
    const auto list = store_->blocks().list(kDefaultOrganization, {}, filter);
    return list ? list->size() : 99u;
  };
  EXPECT_EQ(found(&BlockFilter::label_search, "HUM"), 1u);
  EXPECT_EQ(found(&BlockFilter::value_search, "100% T"), 1u);
  EXPECT_EQ(found(&BlockFilter::value_search, "1_0"), 0u);  // no pattern of the caller's
  EXPECT_EQ(found(&BlockFilter::description_search, "asking"), 1u);
  EXPECT_EQ(found(&BlockFilter::label, "person"), 0u);
  EXPECT_EQ(found(&BlockFilter::value_search, std::string(2000, 'x')), 99u);  // refused
}

TEST_P(AgentTableTest, WhatHangsOnAnAgentComesInPages) {
  const std::string id = agent("a").id;
  for (const char* name : {"one", "two", "three"}) {
    ASSERT_TRUE(store_->agents().attach_tool({}, id, tool(name)));
    ASSERT_TRUE(store_->agents().add_block({}, id, block(name, "v")));
  }
  Page page;
  page.limit = 2;
  const auto tools = store_->agents().tools(kDefaultOrganization, id, page);
  const auto blocks = store_->agents().blocks(kDefaultOrganization, id, page);
  ASSERT_EQ(tools->size(), 2u);
  ASSERT_EQ(blocks->size(), 2u);
  page.after = tools->at(1).id;
  EXPECT_EQ(store_->agents().tools(kDefaultOrganization, id, page)->at(0).name, "three");
  page.after = blocks->at(1).id;
  EXPECT_EQ(store_->agents().blocks(kDefaultOrganization, id, page)->at(0).label, "three");
}

TEST_P(AgentTableTest, AChangeIsMadeAsAWholeOrNotAtAll) {
  const std::string id = agent("before").id;
  const auto kept = store_->agents().add_block({}, id, block("human", "v"));
  const auto made = store_->blocks().create({}, block("persona", "v"));
  AgentChange change;
  change.edit = [](AgentRow& row) -> Result<void> {
    row.name = "after";
    return {};
  };
  change.block_ids = {made->id, "block-00000000-0000-4000-8000-000000000000"};
  EXPECT_EQ(store_->agents().change({}, id, change).error().code, Code::kNotFound);
  EXPECT_EQ(store_->agents().get(kDefaultOrganization, id)->name, "before");
  EXPECT_EQ(store_->agents().blocks(kDefaultOrganization, id)->at(0).id, kept->id);
  change.block_ids = {made->id};
  ASSERT_TRUE(store_->agents().change({}, id, change));
  EXPECT_EQ(store_->agents().blocks(kDefaultOrganization, id)->at(0).id, made->id);
  EXPECT_EQ(names(&AgentFilter::block, made->id), "after ");
  EXPECT_EQ(names(&AgentFilter::block, kept->id), "");
}

TEST_P(AgentTableTest, AgentsAreFoundByTagsNamesAndProjects) {
  for (const auto& [name, tags] : {std::pair("one", R"(["a","b c"])"), {"two", R"(["A"])"}, {"Three", R"(["a\"b"])"}}) {
    NewAgent fresh;
    fresh.row.name = name;
    fresh.row.tags = tags;
    fresh.row.project_id = std::string("project-") + name;
    ASSERT_TRUE(store_->agents().create({}, std::move(fresh)));
  }
  using Tags = std::vector<std::string>;
  EXPECT_EQ(names(&AgentFilter::tags, Tags{R"("a")"}), "one ");  // no other case, no part of another tag
  EXPECT_EQ(names(&AgentFilter::tags, Tags{R"("A")", R"("b c")"}), "one two ");
  EXPECT_EQ(names(&AgentFilter::all_tags, Tags{R"("a")", R"("b c")"}), "one ");
  EXPECT_EQ(names(&AgentFilter::all_tags, Tags{R"("a")", R"("A")"}), "");
  EXPECT_EQ(names(&AgentFilter::search, "thr"), "Three ");
  EXPECT_EQ(names(&AgentFilter::project, "project-two"), "two ");
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
  EXPECT_EQ(set(id, {}, new_actor(*store_)).error().code, Code::kNotFound);
}

TEST_P(AgentTableTest, AgentsAreListedChangedAndRemovedWithinTheirOrganization) {
  const AgentRow first = agent("first");
  const AgentRow second = agent("second");
  const Actor other = new_actor(*store_);
  const AgentRow theirs = agent("theirs", other);
  const Page after{first.id, {}, {}, Order::kAscending};
  EXPECT_EQ(store_->agents().list(kDefaultOrganization, after)->at(0).id, second.id);
  EXPECT_EQ(names(&AgentFilter::name, "second"), "second ");
  AgentChange rename;
  rename.edit = [](AgentRow& row) -> Result<void> {
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
