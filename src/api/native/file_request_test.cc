#include "api/native/file_request.h"

#include <gtest/gtest.h>

namespace bj::native {
namespace {

TEST(FileRequestTest, APathIsWithoutPartsThatMeanNothing) {
  EXPECT_EQ(plain_path("."), "~/");
  EXPECT_EQ(plain_path("./"), "~/");
  EXPECT_EQ(plain_path("./a/./b"), "~/a/b");
  EXPECT_EQ(plain_path("a//b"), "~/a/b");
  EXPECT_EQ(plain_path("~/./a"), "~/a");
  EXPECT_EQ(plain_path("~"), "~");
  EXPECT_EQ(plain_path("/./tmp/."), "/tmp/");
  EXPECT_EQ(plain_path("/."), "/");
  EXPECT_EQ(plain_path("/tmp"), "/tmp");
}

TEST(FileRequestTest, WhatAPathLeadsToStaysTheSame) {
  EXPECT_EQ(plain_path("link/"), "~/link/") << "what the link leads to";
  EXPECT_EQ(plain_path("link/../a"), "~/link/../a") << "where the link leads is not known here";
  EXPECT_EQ(plain_path("./~"), "~/~") << "a file of that name";
  EXPECT_EQ(plain_path("~bob"), "~/~bob");
}

}  // namespace
}  // namespace bj::native
