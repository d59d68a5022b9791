#include "store/call_table.h"

#include <gtest/gtest.h>

#include "store/store_test_support.h"

namespace bj {
namespace {

using CallTableTest = StoreTest;

CallRow call(const std::string& tool, int64_t started_at, const std::string& status = "success") {
  CallRow row;
  row.organization = kDefaultOrganization;
  row.tool_id = "tool-" + tool;
  row.tool_name = tool;
  row.agent_id = "agent-1";
  row.status = status;
  row.provider = "local";
  row.fingerprint = "123";
  row.limits_hit = R"(["memory"])";
  row.started_at = started_at;
  row.duration_us = 1500;
  return row;
}

TEST_P(CallTableTest, CallsAreRecordedTogetherAndListedByFilters) {
  const auto store = open();
  std::vector<CallRow> calls = {call("a", 100), call("b", 200, "error"), call("a", 300), call("a", 300)};
  calls[2].agent_id = std::nullopt;
  CallRow theirs = call("a", 250);
  theirs.organization = "org-other";
  calls.push_back(theirs);
  ASSERT_TRUE(store->calls().insert_many(calls));
  const auto size = [&](const CallFilter& filter) {
    return store->calls().list(kDefaultOrganization, filter, {})->size();
  };
  EXPECT_EQ(size({}), 4u);
  EXPECT_EQ(size({"a", {}, {}, {}}), 3u);
  EXPECT_EQ(size({"tool-a", {}, {}, {}}), 3u);
  EXPECT_EQ(size({{}, "agent-1", {}, {}}), 3u);
  EXPECT_EQ(size({{}, {}, "error", {}}), 1u);
  EXPECT_EQ(size({{}, {}, {}, 200}), 3u);
  const Page newest{{}, {}, 2, Order::kDescending};
  const auto page = store->calls().list(kDefaultOrganization, {}, newest);
  ASSERT_EQ(page->size(), 2u);
  EXPECT_EQ((*page)[0].started_at, 300);
  const Page next{page->back().id, {}, 10, Order::kDescending};
  const auto rest = store->calls().list(kDefaultOrganization, {}, next);
  ASSERT_EQ(rest->size(), 2u);
  EXPECT_EQ((*rest)[0].tool_name, "b");
  EXPECT_EQ(store->calls().get(kDefaultOrganization, (*rest)[0].id)->limits_hit, R"(["memory"])");
  EXPECT_EQ(store->calls().get("org-other", (*rest)[0].id).error().code, Code::kNotFound);
}

TEST_P(CallTableTest, ABatchIsAllOrNothing) {
  const auto store = open();
  CallRow twice = call("a", 1);
  twice.id = new_id("call");
  EXPECT_EQ(store->calls().insert_many({call("b", 1), twice, twice}).error().code, Code::kConflict);
  EXPECT_EQ(store->calls().list(kDefaultOrganization, {}, {})->size(), 0u);
  EXPECT_TRUE(store->calls().insert_many({}));
}

TEST_P(CallTableTest, OldCallsGo) {
  const auto store = open();
  ASSERT_TRUE(store->calls().insert_many({call("a", 100), call("a", 200), call("a", 300)}));
  EXPECT_EQ(*store->calls().remove_older_than(200), 1);
  EXPECT_EQ(store->calls().list(kDefaultOrganization, {}, {})->size(), 2u);
}

BJ_ON_BOTH_ENGINES(CallTableTest);

}  // namespace
}  // namespace bj
