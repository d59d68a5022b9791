#include "control/sandbox_provider.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

TEST(SandboxProviderTest, AnUnknownProviderIsRefusedByNameAndTheKnownOnesAreTold) {
  EXPECT_EQ(sandbox_provider_named("local").value(), SandboxProvider::kLocal);
  for (const char* name : {"", "Local", "e2b", "kubernetes"}) {
    const Result<SandboxProvider> refused = sandbox_provider_named(name);
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().code, Code::kInvalid);
    EXPECT_NE(refused.error().what.find("only local"), std::string::npos);
  }
}

}  // namespace
}  // namespace bj
