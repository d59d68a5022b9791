#include "engine/environments/environment_store.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/files.h"
#include "sys/scratch_directory_for_test.h"

namespace bj {
namespace {

const std::string kKey(64, 'a');

class EnvironmentStoreTest : public testing::Test {
 protected:
  StoredEnvironment add(const std::string& key) {
    EnvironmentRecord record;
    record.key = key;
    record.requirements = {"six"};
    record.site_dirs = {"/opt/packages/lib"};
    record.size_bytes = 100;
    record.created = std::chrono::system_clock::now();
    Staging staging = store_().stage().value();
    return store_().publish(staging, record).value();
  }
  EnvironmentStore store_() const { return EnvironmentStore(root_ + "/environments"); }
  std::vector<std::string> hidden() const {
    std::vector<std::string> names;
    const Fd dir = open_path(root_ + "/environments", O_RDONLY | O_DIRECTORY).value_or(Fd());
    for (const Entry& entry : list_directory(dir.get()).value_or(std::vector<Entry>())) {
      if (entry.name.starts_with(".build-") || entry.name.starts_with(".remove-")) names.push_back(entry.name);
    }
    return names;
  }

  ScratchDirectory own_directory_;
  const std::string& root_ = own_directory_.path();
};

TEST_F(EnvironmentStoreTest, WhatWasPublishedIsFoundWithItsRecord) {
  EXPECT_FALSE(store_().find(kKey).value().has_value());
  add(kKey);
  const auto found = store_().find(kKey).value();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->record.requirements, std::vector<std::string>{"six"});
  EXPECT_EQ(found->record.site_dirs, std::vector<std::string>{"/opt/packages/lib"});
  EXPECT_TRUE(found->packages.ends_with("/packages"));
  EXPECT_TRUE(hidden().empty());
}

TEST_F(EnvironmentStoreTest, AnEnvironmentInUseIsNotPrunedAndGoesAfterwards) {
  StoredEnvironment used = add(kKey);
  EXPECT_TRUE(store_().list().value().front().in_use);
  PruneRequest all;
  all.all = true;
  EXPECT_EQ(store_().prune(all).value().in_use, std::vector<std::string>{kKey});
  used.lease.reset();
  EXPECT_FALSE(store_().list().value().front().in_use);
  EXPECT_EQ(store_().prune(all).value().removed, std::vector<std::string>{kKey});
  EXPECT_FALSE(store_().find(kKey).value().has_value());
  EXPECT_TRUE(hidden().empty());
}

TEST_F(EnvironmentStoreTest, ANewGenerationReplacesTheOldOneOnceNobodyUsesIt) {
  const StoredEnvironment first = add(kKey);
  const StoredEnvironment second = add(kKey);
  EXPECT_NE(first.packages, second.packages);
  EXPECT_EQ(store_().find(kKey).value()->packages, second.packages);
  EXPECT_EQ(::access(first.packages.c_str(), F_OK), 0);  // still in use
}

TEST_F(EnvironmentStoreTest, PruneTakesTheFirstCharactersOfAKeyButNotTooFew) {
  add(kKey);
  add(std::string(64, 'b'));
  PruneRequest request;
  request.keys = {"bbbbbb"};
  EXPECT_EQ(store_().prune(request).value().removed, std::vector<std::string>{std::string(64, 'b')});
  request.keys = {"a"};
  EXPECT_FALSE(store_().prune(request));
  request.keys = {"cccccc"};
  EXPECT_EQ(store_().prune(request).error().code, Code::kNotFound);
}

TEST_F(EnvironmentStoreTest, OnlyWhatWasNotUsedForThatLongIsPruned) {
  const std::string packages = add(kKey).packages;
  PruneRequest request;
  request.unused_for = std::chrono::hours(1);
  EXPECT_TRUE(store_().prune(request).value().removed.empty());
  const timespec old[2] = {{0, UTIME_OMIT}, {1'000'000, 0}};
  const std::string record = packages.substr(0, packages.rfind('/')) + "/environment.json";
  ASSERT_EQ(::utimensat(AT_FDCWD, record.c_str(), old, 0), 0);
  ASSERT_TRUE(store_().touch(packages));
  EXPECT_TRUE(store_().prune(request).value().removed.empty());
  ASSERT_EQ(::utimensat(AT_FDCWD, record.c_str(), old, 0), 0);
  EXPECT_EQ(store_().prune(request).value().removed.size(), 1u);
}

TEST_F(EnvironmentStoreTest, AStagingDirectoryGoesWithItsOwnerOrAtTheNextStart) {
  {
    const Staging staging = store_().stage().value();
    EXPECT_EQ(hidden().size(), 1u);
    store_().remove_leftovers();
    EXPECT_EQ(hidden().size(), 1u);  // its owner lives
  }
  EXPECT_TRUE(hidden().empty());
  ASSERT_EQ(::mkdir((root_ + "/environments/.build-dead00").c_str(), 0700), 0);
  store_().remove_leftovers();
  EXPECT_TRUE(hidden().empty());
}

TEST_F(EnvironmentStoreTest, OneBuildsAndTheOthersAreToldAndAFailureIsRememberedForAMoment) {
  {
    const auto first = store_().try_lock(kKey).value();
    ASSERT_TRUE(first);
    EXPECT_FALSE(store_().try_lock(kKey).value());
    EXPECT_FALSE(first->recent_failure());
    first->note_failure({Code::kUnavailable, "no such package", 0});
  }
  const auto second = store_().try_lock(kKey).value();
  ASSERT_TRUE(second);
  ASSERT_TRUE(second->recent_failure());
  EXPECT_EQ(second->recent_failure()->what, "no such package");
  second->note_success();
  EXPECT_FALSE(second->recent_failure());
}

}  // namespace
}  // namespace bj
