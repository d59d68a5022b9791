#include "control/template_export.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

TEST(TemplateExportTest, OneOverTheMachinesSystemSaysThatItHoldsAllOfIt) {
  TemplateContent content;
  EXPECT_NE(what_is_exported(content).find("this machine's own system"), std::string::npos);
  content.root = "alpine";
  EXPECT_EQ(what_is_exported(content), "");
  content.root = "image:0123";
  EXPECT_EQ(what_is_exported(content), "");
}

}  // namespace
}  // namespace bj
