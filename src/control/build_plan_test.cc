#include "control/build_plan.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

BuildStep run(std::string text, std::string user = "") {
  return {StepKind::kRun, {std::move(text), std::move(user)}, "", false};
}
BuildStep env() { return {StepKind::kEnv, {"A", "1"}, "", false}; }
BuildStep user(std::string name) { return {StepKind::kUser, {std::move(name)}, "", false}; }

BuildRequest request(std::vector<BuildStep> steps) {
  BuildRequest request;
  request.steps = std::move(steps);
  return request;
}

TEST(BuildPlanTest, EachRunEndsAGroupAndTakesWhatStandsBeforeItAlong) {
  const auto groups = plan_build(request({env(), run("a"), env(), run("b"), env()}), "base", 8);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].steps, (std::vector<size_t>{0, 1, 2}));
  EXPECT_EQ(groups[1].steps, (std::vector<size_t>{3, 4}));
}

TEST(BuildPlanTest, AStepThatNamesAUserSeesTheAccountsOfWhatRanBefore) {
  const auto groups = plan_build(request({run("useradd x"), user("x"), run("id"), run("id", "y")}), "base", 1);
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[1].steps, (std::vector<size_t>{1, 2}));
}

TEST(BuildPlanTest, ALongBuildHasFewGroups) {
  std::vector<BuildStep> steps;
  for (int i = 0; i < 100; ++i) steps.push_back(run(std::to_string(i)));
  EXPECT_LE(plan_build(request(steps), "base", 6).size(), 6u);
}

TEST(BuildPlanTest, TheChainDependsOnEverythingBefore) {
  const auto one = plan_build(request({run("a"), run("b")}), "base", 8);
  const auto same = plan_build(request({run("a"), run("b")}), "base", 8);
  const auto first_differs = plan_build(request({run("x"), run("b")}), "base", 8);
  const auto base_differs = plan_build(request({run("a"), run("b")}), "other", 8);
  EXPECT_EQ(one[1].chain, same[1].chain);
  EXPECT_NE(one[1].chain, first_differs[1].chain);
  EXPECT_NE(one[0].chain, base_differs[0].chain);
  EXPECT_NE(plan_build(request({run("ab", "c")}), "", 8)[0].chain,
            plan_build(request({run("a", "bc")}), "", 8)[0].chain);
}

TEST(BuildPlanTest, AForcedStepForcesWhatFollows) {
  BuildRequest asked = request({run("a"), run("b"), run("c")});
  asked.steps[1].force = true;
  const auto groups = plan_build(asked, "base", 8);
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_FALSE(groups[0].force);
  EXPECT_TRUE(groups[1].force);
  EXPECT_TRUE(groups[2].force);
}

}  // namespace
}  // namespace bj
