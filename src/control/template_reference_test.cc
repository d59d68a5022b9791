#include "control/template_reference.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

TEST(TemplateReferenceTest, ANameAloneHasTheDefaultTagAndNoNamespace) {
  const auto reference = parse_template_reference("My-Template");
  ASSERT_TRUE(reference);
  EXPECT_EQ(reference->space, "");
  EXPECT_EQ(reference->name, "my-template");
  EXPECT_EQ(reference->tag, "default");
}

TEST(TemplateReferenceTest, NamespaceAndTagAreToldApart) {
  const auto reference = parse_template_reference("team/tool_1:v1.2");
  ASSERT_TRUE(reference);
  EXPECT_EQ(reference->space, "team");
  EXPECT_EQ(reference->name, "tool_1");
  EXPECT_EQ(reference->tag, "v1.2");
}

TEST(TemplateReferenceTest, WhatIsNoNameIsRefused) {
  for (const char* text : {"", "/x", "a/", "a/b/c", "a:", "a:b:c", "a b", "../x", "a/../b", "x:y/z", "\xc3\xa9"})
    EXPECT_FALSE(parse_template_reference(text)) << text;
  EXPECT_FALSE(parse_template_reference(std::string(129, 'a')));
  EXPECT_FALSE(parse_template_reference(std::string("a\0b", 3)));
}

TEST(TemplateReferenceTest, ABuildsIdIsNoTag) {
  EXPECT_FALSE(check_tag("0f9a3c1e-1111-4222-8333-444455556666"));
  EXPECT_FALSE(check_tag(""));
  EXPECT_TRUE(check_tag("0f9a3c1e"));
}

TEST(TemplateReferenceTest, IdsAreRandomExceptThoseOfTheMachine) {
  EXPECT_TRUE(is_template_id(new_template_id()));
  EXPECT_NE(new_template_id(), new_template_id());
  EXPECT_TRUE(is_template_id(machine_template_id("base")));
  EXPECT_EQ(machine_template_id("base"), machine_template_id("base"));
  EXPECT_NE(machine_template_id("base"), machine_template_id("alpine"));
  EXPECT_FALSE(is_template_id("base"));
}

}  // namespace
}  // namespace bj
