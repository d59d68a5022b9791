#include "engine/blank_demand.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

constexpr size_t kLeast = 2, kMost = 100;

BlankDemand after_burst_of(int sandboxes) {
  BlankDemand demand(kLeast, kMost);
  for (int i = 0; i < sandboxes; ++i) demand.missed();
  return demand;
}

TEST(BlankDemandTest, NothingIsKeptForNobodyAndAFewForTheFirst) {
  BlankDemand demand(kLeast, kMost);
  EXPECT_EQ(demand.wanted(), 0);
  demand.missed();
  EXPECT_EQ(demand.wanted(), kLeast);
}

TEST(BlankDemandTest, ABurstIsExpectedAgainInItsSizeButNotBeyondTheBound) {
  EXPECT_EQ(after_burst_of(30).wanted(), 31);
  EXPECT_EQ(after_burst_of(1000).wanted(), kMost);
}

TEST(BlankDemandTest, WhoAsksOneAtATimeAfterABurstGetsAFewAgain) {
  BlankDemand demand = after_burst_of(50);
  demand.look_back(51);  // the while of the burst itself
  EXPECT_EQ(demand.wanted(), 51);
  demand.taken(50);
  demand.look_back(51);
  EXPECT_EQ(demand.wanted(), kLeast);
}

TEST(BlankDemandTest, BurstsThatComeInEveryWhileKeepTheirBlanks) {
  BlankDemand demand = after_burst_of(50);
  for (int i = 0; i < 5; ++i) {
    demand.look_back(51);
    for (size_t left = 51; left > 0; --left) demand.taken(left - 1);
    EXPECT_EQ(demand.wanted(), 51);
  }
}

TEST(BlankDemandTest, WhatNobodyAskedForInAWhileIsNotWanted) {
  BlankDemand demand = after_burst_of(50);
  demand.look_back(51);
  demand.look_back(51);
  EXPECT_EQ(demand.wanted(), 0);
}

TEST(BlankDemandTest, AnotherOneHasTimeUntilTheLastFewAreTaken) {
  BlankDemand demand(16, kMost);
  demand.missed();
  EXPECT_TRUE(demand.can_wait(2));
  EXPECT_FALSE(demand.can_wait(1));
  EXPECT_FALSE(BlankDemand(after_burst_of(50)).can_wait(0));
}

}  // namespace
}  // namespace bj
