#include "control/sandbox_wishes.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

VolumeWish at(const std::string& path) { return {"", "data", path, false}; }

TEST(SandboxWishesTest, WhatIsWrittenIsReadBack) {
  SandboxWishes wishes;
  wishes.volumes = {{"vol1", "data", "/data", true}, {"vol2", "more", "/mnt/more", false}};
  wishes.extend_on_activity = true;
  const SandboxWishes read = wishes_of(wishes_text(wishes));
  ASSERT_EQ(read.volumes.size(), 2u);
  EXPECT_EQ(read.volumes[0].id, "vol1");
  EXPECT_EQ(read.volumes[0].path, "/data");
  EXPECT_TRUE(read.volumes[0].read_only);
  EXPECT_FALSE(read.volumes[1].read_only);
  EXPECT_TRUE(read.extend_on_activity);
  EXPECT_EQ(wishes_text({}), "{}");
}

TEST(SandboxWishesTest, WhatCannotBeReadIsNotWishedFor) {
  for (const char* text : {"", "null", "[]", "{\"volumes\": 3}", "{\"volumes\": [1]}", "{"})
    EXPECT_TRUE(wishes_of(text).volumes.empty()) << text;
}

TEST(SandboxWishesTest, PathsThatLeadElsewhereOrCoverASandboxsOwnAreRefused) {
  for (const char* path : {"", "/", "data", "/data/", "/a/../b", "/a/./b", "/..", "//a", "/proc", "/proc/1", "/sys",
                           "/dev/shm", "/opt/belljar", "/run/belljar/x", "/etc", "/usr/lib"})
    EXPECT_FALSE(check_volume_wishes({at(path)})) << path;
  EXPECT_FALSE(check_volume_wishes({at(std::string("/a\0b", 4))}));
  EXPECT_FALSE(check_volume_wishes({at("/" + std::string(300, 'x'))}));
  for (const char* path : {"/data", "/mnt/a/b", "/home/user/data", "/procedures", "/a..b"})
    EXPECT_TRUE(check_volume_wishes({at(path)})) << path;
}

TEST(SandboxWishesTest, OnlyAPlainAddressOfARepositoryIsTaken) {
  EXPECT_TRUE(check_git_wish({}));
  EXPECT_TRUE(check_git_wish({"https://example.org/a/b.git", "main", "work/b"}));
  for (const char* url : {"git@example.org:a", "ssh://example.org/a", "file:///etc", "ext::sh -c id", "--upload-pack=x",
                          "https://", "https://user:secret@example.org/a", "https://example.org/a b", "https:///a"})
    EXPECT_FALSE(check_git_wish({url, "", ""})) << url;
  EXPECT_FALSE(check_git_wish({"", "main", ""}));
  EXPECT_FALSE(check_git_wish({"https://example.org/a", "--upload-pack=x", ""}));
  for (const char* path : {"../x", "/abs", "a/../b", "a/"})
    EXPECT_FALSE(check_git_wish({"https://example.org/a", "", path})) << path;
}

TEST(SandboxWishesTest, TwoVolumesDoNotLieInEachOther) {
  EXPECT_TRUE(check_volume_wishes({at("/a"), at("/ab")}));
  EXPECT_FALSE(check_volume_wishes({at("/a"), at("/a")}));
  EXPECT_FALSE(check_volume_wishes({at("/a"), at("/a/b")}));
  EXPECT_FALSE(check_volume_wishes({at("/a/b"), at("/a")}));
  EXPECT_FALSE(check_volume_wishes(std::vector<VolumeWish>(7, at("/x"))));
}

}  // namespace
}  // namespace bj
