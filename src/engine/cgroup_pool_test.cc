#include "engine/cgroup_pool.h"

#include <gtest/gtest.h>

#include "engine/engine_test_support.h"

namespace bj {
namespace {

class CgroupPoolTest : public EngineStory {};

// What a zygote imports may keep the files by which its children join their groups, and come into one at any time: it
// was in the group of another's call then, with all that it used.
TEST_F(CgroupPoolTest, AGroupWhoseFilesSomebodyMayHaveKeptGoesToNobodyElseWhileHeLives) {
  tell({}, [](Engine& engine) -> Task<Result<void>> {
    const std::shared_ptr<CgroupPool> pool = engine.host().cgroups;
    if (pool->root().hierarchies().empty()) co_return Result<void>();
    Limits limits;
    limits.processes = 77;  // which nobody else has
    auto zygote = std::make_shared<char>();
    BJ_CO_TRY(LeasedGroup first, pool->take(limits, zygote));
    const std::string name = first.name();
    first.give_back();
    BJ_CO_TRY(LeasedGroup others, pool->take(limits));
    EXPECT_NE(others.name(), name);
    const auto another = std::make_shared<char>();
    BJ_CO_TRY(LeasedGroup anothers, pool->take(limits, another));
    EXPECT_NE(anothers.name(), name);
    BJ_CO_TRY(LeasedGroup again, pool->take(limits, zygote));
    EXPECT_EQ(again.name(), name);
    again.give_back();
    zygote.reset();
    BJ_CO_TRY(LeasedGroup after, pool->take(limits));
    EXPECT_EQ(after.name(), name);
    co_return Result<void>();
  });
}

}  // namespace
}  // namespace bj
