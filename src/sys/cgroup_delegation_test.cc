#include "sys/cgroup_delegation.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "sys/files.h"
#include "sys/scratch_directory_for_test.h"

namespace bj {
namespace {

namespace fs = std::filesystem;

constexpr const char* kScope = "/user.slice/user-1000.slice/user@1000.service/app.slice/run-r1.scope";

TEST(GivenGroupTest, IsTheOneOfTheVersion2Line) {
  EXPECT_EQ(given_group("5:memory:/elsewhere\n0::/user.slice/a.scope\n", "belljar"), "/user.slice/a.scope");
  EXPECT_EQ(given_group("0::/\n", "belljar"), "");
  EXPECT_EQ(given_group("", "belljar"), "");
}

TEST(GivenGroupTest, WhoHasGoneToItsLeafWasGivenTheGroupAbove) {
  EXPECT_EQ(given_group(std::string("0::") + kScope + "/belljar-server\n", "belljar"), kScope);
  EXPECT_EQ(given_group("0::/belljar-server\n", "belljar"), "");
  EXPECT_EQ(given_group(std::string("0::") + kScope + "/other-server\n", "belljar"),
            std::string(kScope) + "/other-server");
}

// A directory that looks like a group of version 2; what is written to its files stays to be read.
class DelegationTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directory(group_);
    fs::create_directory(parent_ + "/belljar-server");
    put(parent_ + "/cgroup.type", "domain\n");
    put(parent_ + "/cgroup.controllers", "cpuset memory pids\n");
    for (const std::string& place : {parent_, group_}) put(place + "/cgroup.subtree_control", "");
    put(leaf_processes(), "");
  }

  static void put(const std::string& path, const std::string& text) { std::ofstream(path) << text; }
  std::string leaf_processes() const { return parent_ + "/belljar-server/cgroup.procs"; }

  ScratchDirectory own_directory_;
  const std::string& parent_ = own_directory_.path();
  const std::string group_ = parent_ + "/belljar";
};

TEST_F(DelegationTest, AControllerIsHandedDownByBothLevels) {
  ASSERT_TRUE(offer(parent_, group_, "memory"));
  EXPECT_EQ(read_file(parent_ + "/cgroup.subtree_control").value(), "+memory");
  EXPECT_EQ(read_file(group_ + "/cgroup.subtree_control").value(), "+memory");
}

TEST_F(DelegationTest, WhatIsHandedDownAlreadyIsNotAskedForAgain) {
  put(parent_ + "/cgroup.subtree_control", "memory pids\n");
  ASSERT_TRUE(offer(parent_, group_, "memory"));
  EXPECT_EQ(read_file(parent_ + "/cgroup.subtree_control").value(), "memory pids\n");
}

TEST_F(DelegationTest, AControllerThatTheParentHasNotGotIsRefusedAndSaysWhose) {
  const Result<void> offered = offer(parent_, group_, "cpu");  // "cpuset" is another
  ASSERT_FALSE(offered);
  EXPECT_EQ(offered.error().what, parent_ + " was not given this controller");
}

TEST_F(DelegationTest, WeMoveToALeafBecauseAGroupThatHandsDownHoldsNoProcess) {
  put(parent_ + "/cgroup.procs", std::to_string(::getpid()) + "\n");
  ASSERT_TRUE(make_room(parent_, "belljar"));
  EXPECT_EQ(read_file(leaf_processes()).value(), std::to_string(::getpid()));
}

TEST_F(DelegationTest, ProcessesOfOthersAreLeftWhereTheyAre) {
  if (::geteuid() == 0) GTEST_SKIP() << "root: in a container, all of them are moved";
  put(parent_ + "/cgroup.procs", std::to_string(::getpid()) + "\n1\n");
  const Result<void> room = make_room(parent_, "belljar");
  ASSERT_FALSE(room);
  EXPECT_EQ(room.error().what, "other processes are in " + parent_);
  EXPECT_EQ(read_file(leaf_processes()).value(), "");
}

TEST_F(DelegationTest, TheMachinesRootGroupMayHoldProcesses) {
  fs::remove(parent_ + "/cgroup.type");
  put(parent_ + "/cgroup.procs", "1\n");
  ASSERT_TRUE(make_room(parent_, "belljar"));
  EXPECT_EQ(read_file(leaf_processes()).value(), "");
}

}  // namespace
}  // namespace bj
