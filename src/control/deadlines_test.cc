#include "control/deadlines.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

using Ids = std::vector<std::string>;

TEST(DeadlinesTest, WhoIsDueIsToldOnceInOrder) {
  Deadlines deadlines;
  deadlines.set("b", 20);
  deadlines.set("a", 10);
  deadlines.set("c", 30);
  EXPECT_EQ(deadlines.next(), 10);
  EXPECT_EQ(deadlines.take_due(9), Ids{});
  EXPECT_EQ(deadlines.take_due(20), (Ids{"a", "b"}));
  EXPECT_EQ(deadlines.take_due(20), Ids{});
  EXPECT_EQ(deadlines.next(), 30);
}

TEST(DeadlinesTest, ATimeThatWasMovedCounts) {
  Deadlines deadlines;
  deadlines.set("a", 10);
  deadlines.set("a", 50);
  EXPECT_EQ(deadlines.take_due(49), Ids{});
  EXPECT_EQ(deadlines.take_due(50), Ids{"a"});
}

TEST(DeadlinesTest, WhoIsForgottenIsNotDue) {
  Deadlines deadlines;
  deadlines.set("a", 10);
  deadlines.forget("a");
  deadlines.forget("nobody");
  EXPECT_EQ(deadlines.take_due(100), Ids{});
  EXPECT_FALSE(deadlines.next());
}

}  // namespace
}  // namespace bj
