#include "control/template_manifests.h"

#include <gtest/gtest.h>

#include "control/dockerfile.h"

namespace bj {
namespace {

TEST(TemplateManifestsTest, EveryManifestIsReadAndBeginsWithATemplate) {
  const auto& manifests = template_manifests();
  for (const char* name : {"base", "python", "node", "code-interpreter", "code-server"})
    EXPECT_TRUE(manifests.contains(name)) << name;
  for (const auto& [name, text] : manifests) {
    const auto parsed = parse_dockerfile(text);
    ASSERT_TRUE(parsed) << name << ": " << parsed.error().what;
    EXPECT_EQ(parsed->from, "base") << name;
    for (const BuildStep& step : parsed->steps)
      EXPECT_TRUE(make_step(step_name(step.kind), step.arguments, step.files, false)) << name;
  }
}

}  // namespace
}  // namespace bj
