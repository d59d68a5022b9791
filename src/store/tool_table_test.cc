#include "store/tool_table.h"

#include <gtest/gtest.h>

#include "store/store_test_support.h"

namespace bj {
namespace {

class ToolTableTest : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    if (!IsSkipped()) store_ = open();
  }
  ToolRow add(const std::string& name, const Actor& actor = {}) {
    ToolRow tool;
    tool.name = name;
    tool.source_code = "def " + name + "(): pass";
    auto made = store_->tools().upsert(actor, tool);
    EXPECT_TRUE(made) << made.error().what;
    return made ? *made : ToolRow();
  }
  std::vector<std::string> names(const ToolFilter& filter, const Page& page = {},
                                 ToolOrderBy by = ToolOrderBy::kCreatedAt) {
    std::vector<std::string> names;
    const auto list = store_->tools().list(kDefaultOrganization, filter, page, by);
    EXPECT_TRUE(list) << list.error().what;
    if (list)
      for (const ToolRow& tool : *list) names.push_back(tool.name);
    return names;
  }

  std::unique_ptr<Store> store_;
};
using Names = std::vector<std::string>;

TEST_P(ToolTableTest, EveryColumnComesBack) {
  ToolRow tool;
  tool.name = "search";
  tool.tool_type = "external_mcp";
  tool.description = "finds";
  tool.source_type = "typescript";
  tool.source_code = "export function search() {}";
  tool.json_schema = R"({"name":"search"})";
  tool.args_json_schema = "{}";
  tool.tags = R"(["a"])";
  tool.pip_requirements = R"([{"name":"x"}])";
  tool.npm_requirements = "[]";
  tool.return_char_limit = 7;
  tool.default_requires_approval = false;
  tool.enable_parallel_execution = true;
  tool.metadata = R"({"tool_hash":"1"})";
  tool.project_id = "p";
  const auto made = store_->tools().upsert({}, tool);
  ASSERT_TRUE(made) << made.error().what;
  const auto read = store_->tools().get(kDefaultOrganization, made->id);
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_TRUE(is_id("tool", read->id));
  EXPECT_EQ(read->organization, kDefaultOrganization);
  EXPECT_EQ(read->name, tool.name);
  EXPECT_EQ(read->tool_type, tool.tool_type);
  EXPECT_EQ(read->description, tool.description);
  EXPECT_EQ(read->source_type, tool.source_type);
  EXPECT_EQ(read->source_code, tool.source_code);
  EXPECT_EQ(read->json_schema, tool.json_schema);
  EXPECT_EQ(read->args_json_schema, tool.args_json_schema);
  EXPECT_EQ(read->tags, tool.tags);
  EXPECT_EQ(read->pip_requirements, tool.pip_requirements);
  EXPECT_EQ(read->npm_requirements, tool.npm_requirements);
  EXPECT_EQ(read->return_char_limit, 7);
  EXPECT_EQ(read->default_requires_approval, std::optional<bool>(false));
  EXPECT_TRUE(read->enable_parallel_execution);
  EXPECT_EQ(read->metadata, tool.metadata);
  EXPECT_EQ(read->project_id, tool.project_id);
  EXPECT_EQ(read->stamp.created_by, kDefaultUser);
  EXPECT_GT(read->stamp.created_at, 1'600'000'000'000'000);
}

TEST_P(ToolTableTest, DefiningAToolAgainOverwritesAllButItsOrigin) {
  const ToolRow first = add("t");
  const Actor colleague{kDefaultOrganization, store_->users().create(kDefaultOrganization, "c")->id, "", Role::kMember};
  ToolRow again;
  again.name = "t";
  again.description = "new";
  again.tags = R"(["x"])";
  const auto second = store_->tools().upsert(colleague, again);
  ASSERT_TRUE(second) << second.error().what;
  EXPECT_EQ(second->id, first.id);
  EXPECT_EQ(second->stamp.created_at, first.stamp.created_at);
  EXPECT_EQ(second->stamp.created_by, kDefaultUser);
  EXPECT_EQ(second->stamp.updated_by, colleague.user);
  EXPECT_EQ(second->description, "new");
  EXPECT_EQ(second->source_code, std::nullopt);
  EXPECT_EQ(add("t").tags, R"(["x"])");  // empty tags leave those that are there
  EXPECT_EQ(*store_->tools().count(kDefaultOrganization, {}), 1);
}

TEST_P(ToolTableTest, AChangeIsReadEditedAndWritten) {
  const ToolRow tool = add("t");
  add("taken");
  const auto changed = store_->tools().change({}, tool.id, [](ToolRow& row) -> Result<void> {
    row.name = "renamed";
    row.organization = "org-elsewhere";  // not for the caller to change
    return {};
  });
  ASSERT_TRUE(changed) << changed.error().what;
  EXPECT_EQ(changed->organization, kDefaultOrganization);
  EXPECT_EQ((*store_->tools().find_by_name(kDefaultOrganization, "renamed"))->id, tool.id);
  const auto rename = [](ToolRow& row) -> Result<void> {
    row.name = "taken";
    return {};
  };
  EXPECT_EQ(store_->tools().change({}, tool.id, rename).error().code, Code::kConflict);
  const auto refuse = [](ToolRow& row) -> Result<void> {
    row.name = "never";
    return fail(Code::kInvalid, "no");
  };
  EXPECT_EQ(store_->tools().change({}, tool.id, refuse).error().code, Code::kInvalid);
  EXPECT_EQ(store_->tools().get(kDefaultOrganization, tool.id)->name, "renamed");
}

TEST_P(ToolTableTest, AnotherOrganizationsToolDoesNotExist) {
  const Actor other = new_actor(*store_);
  const ToolRow mine = add("same name");
  const ToolRow theirs = add("same name", other);
  EXPECT_NE(mine.id, theirs.id);
  const auto nothing = [](ToolRow&) -> Result<void> { return {}; };
  EXPECT_EQ(store_->tools().get(kDefaultOrganization, theirs.id).error().code, Code::kNotFound);
  EXPECT_EQ(store_->tools().remove(kDefaultOrganization, theirs.id).error().code, Code::kNotFound);
  EXPECT_EQ(store_->tools().change({}, theirs.id, nothing).error().code, Code::kNotFound);
  EXPECT_EQ((*store_->tools().find_by_name(kDefaultOrganization, "same name"))->id, mine.id);
  Page page;
  page.after = theirs.id;  // nor as a cursor
  EXPECT_EQ(store_->tools().list(kDefaultOrganization, {}, page).error().code, Code::kNotFound);
  EXPECT_TRUE(store_->tools().get(other.organization, theirs.id));
  // Not even by giving the id away: ids are unique, and the other's row stays as it is.
  ToolRow thief = mine;
  thief.id = theirs.id;
  thief.name = "thief";
  EXPECT_EQ(store_->tools().upsert({}, thief).error().code, Code::kConflict);
  EXPECT_EQ(store_->tools().get(other.organization, theirs.id)->name, "same name");
}

TEST_P(ToolTableTest, PagesFollowTheOrder) {
  std::vector<std::string> ids;
  for (const char* name : {"d", "a", "c", "b", "e"}) ids.push_back(add(name).id);
  EXPECT_EQ(names({}), (Names{"d", "a", "c", "b", "e"}));
  const Page second{ids[1], {}, 2, Order::kAscending};
  EXPECT_EQ(names({}, second), (Names{"c", "b"}));
  const Page back{{}, ids[3], 2, Order::kAscending};
  EXPECT_EQ(names({}, back), (Names{"a", "c"}));  // those just before b
  const Page newest{{}, {}, 2, Order::kDescending};
  EXPECT_EQ(names({}, newest), (Names{"e", "b"}));
  const Page older{ids[3], {}, 2, Order::kDescending};
  EXPECT_EQ(names({}, older), (Names{"c", "a"}));
  const Page newer{{}, ids[1], 2, Order::kDescending};
  EXPECT_EQ(names({}, newer), (Names{"b", "c"}));
  const Page between{ids[0], ids[4], {}, Order::kAscending};
  EXPECT_EQ(names({}, between), (Names{"a", "c", "b"}));
  EXPECT_EQ(names({}, {}, ToolOrderBy::kName), (Names{"a", "b", "c", "d", "e"}));
  const Page by_name{ids[3], {}, 2, Order::kDescending};
  EXPECT_EQ(names({}, by_name, ToolOrderBy::kName), (Names{"a"}));
  const Page none{{}, {}, 0, Order::kAscending};
  EXPECT_EQ(names({}, none), Names{});
  const Page negative{{}, {}, -1, Order::kAscending};
  EXPECT_EQ(store_->tools().list(kDefaultOrganization, {}, negative).error().code, Code::kInvalid);
  const Page unknown{"tool-unknown", {}, {}, Order::kAscending};
  EXPECT_EQ(store_->tools().list(kDefaultOrganization, {}, unknown).error().what, "No Tool found with id tool-unknown");
}

TEST_P(ToolTableTest, FiltersNarrowAndCountAgrees) {
  const ToolRow first = add("get_Weather");
  add("get_time");
  add("50%_off");
  const auto expect = [&](const ToolFilter& filter, const Names& wanted) {
    EXPECT_EQ(names(filter), wanted);
    EXPECT_EQ(*store_->tools().count(kDefaultOrganization, filter), static_cast<int64_t>(wanted.size()));
  };
  ToolFilter filter;
  filter.search = "WEATHER";
  expect(filter, {"get_Weather"});
  filter.search = "%";
  expect(filter, {"50%_off"});
  filter.search = "t_t";
  expect(filter, {"get_time"});
  filter.search = "\\";
  expect(filter, {});
  filter = {};
  filter.name = "get_time";
  expect(filter, {"get_time"});
  filter = {};
  filter.names = {"get_time", "50%_off", "missing"};
  expect(filter, {"get_time", "50%_off"});
  filter = {};
  filter.ids = {first.id};
  expect(filter, {"get_Weather"});
  filter = {};
  filter.search = std::string(2000, 'x');
  EXPECT_EQ(store_->tools().count(kDefaultOrganization, filter).error().code, Code::kInvalid);
  filter = {};
  filter.names.assign(100, "get_time");  // more than the statement cache keeps
  expect(filter, {"get_time"});
}

TEST_P(ToolTableTest, TypesAndProjectsAreFilters) {
  ToolRow tool;
  tool.name = "core";
  tool.tool_type = "letta_core";
  ASSERT_TRUE(store_->tools().upsert({}, tool));
  tool.name = "of_p";
  tool.tool_type = "custom";
  tool.project_id = "p";
  ASSERT_TRUE(store_->tools().upsert({}, tool));
  tool.name = "of_q";
  tool.project_id = "q";
  ASSERT_TRUE(store_->tools().upsert({}, tool));
  ToolFilter filter;
  filter.types = {"letta_core"};
  EXPECT_EQ(names(filter), (Names{"core"}));
  filter = {};
  filter.excluded_types = {"letta_core"};
  EXPECT_EQ(names(filter), (Names{"of_p", "of_q"}));
  filter = {};
  filter.project = "p";
  EXPECT_EQ(names(filter), (Names{"core", "of_p"}));
}

TEST_P(ToolTableTest, ARemovedToolIsGone) {
  const ToolRow tool = add("t");
  EXPECT_EQ(store_->tools().remove(kDefaultOrganization, tool.id)->name, "t");
  EXPECT_EQ(store_->tools().get(kDefaultOrganization, tool.id).error().code, Code::kNotFound);
  EXPECT_EQ(store_->tools().remove(kDefaultOrganization, tool.id).error().code, Code::kNotFound);
}

BJ_ON_BOTH_ENGINES(ToolTableTest);

}  // namespace
}  // namespace bj
