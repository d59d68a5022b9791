#include "images/image_reference.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

std::string read(std::string_view text) {
  const auto image = parse_image_reference(text);
  return image ? image->text() : "";
}

TEST(ImageReferenceTest, ShortNamesAreDockerHubs) {
  EXPECT_EQ(read("python"), "registry-1.docker.io/library/python:latest");
  EXPECT_EQ(read("python:3.12-slim"), "registry-1.docker.io/library/python:3.12-slim");
  EXPECT_EQ(read("me/tool:v1"), "registry-1.docker.io/me/tool:v1");
  EXPECT_EQ(read("docker.io/python"), "registry-1.docker.io/library/python:latest");
}

TEST(ImageReferenceTest, AHostIsToldByItsDotOrPort) {
  EXPECT_EQ(read("ghcr.io/a/b"), "ghcr.io/a/b:latest");
  EXPECT_EQ(read("127.0.0.1:5000/small"), "127.0.0.1:5000/small:latest");
  EXPECT_EQ(read("localhost/small:x"), "localhost/small:x");
}

TEST(ImageReferenceTest, ADigestStandsInPlaceOfATag) {
  const std::string digest = "sha256:" + std::string(64, 'a');
  EXPECT_EQ(read("a/b@" + digest), "registry-1.docker.io/a/b@" + digest);
  EXPECT_EQ(read("a/b:v1@" + digest), "registry-1.docker.io/a/b@" + digest);
  EXPECT_EQ(read("a/b@sha256:xyz"), "");
}

TEST(ImageReferenceTest, WhatCouldLeadAUrlElsewhereIsRefused) {
  for (const char* text : {"", ":x", "a/../b", "a//b", "user@host.example/a", "host.example:80x/a", "a b", "A/b",
                           "host.example/a?x=1", "host.example/a#b", "host.example/a%2f", "http://host/a", "a:b/c:d",
                           "host.example/", "ho st.example/a", "[::1]:5000/a"})
    EXPECT_EQ(read(text), "") << text;
}

}  // namespace
}  // namespace bj
