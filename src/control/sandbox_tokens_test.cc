#include "control/sandbox_tokens.h"

#include <gtest/gtest.h>

namespace bj {
namespace {

TEST(SandboxTokensTest, TokensStayTheSameAndDifferByPurposeAndSandbox) {
  const SandboxTokens tokens{Secret("a key")};
  EXPECT_EQ(tokens.control("sba"), tokens.control("sba"));
  EXPECT_NE(tokens.control("sba"), tokens.control("sbb"));
  EXPECT_NE(tokens.control("sba"), tokens.traffic("sba"));
  EXPECT_NE(tokens.control("sba"), SandboxTokens{Secret("another")}.control("sba"));
}

TEST(SandboxTokensTest, APortsTokenIsForThatPortUntilItsTime) {
  const SandboxTokens tokens{Secret("a key")};
  const std::string token = tokens.port("sba", 80, 1000);
  EXPECT_TRUE(tokens.opens_port(token, "sba", 80, 999));
  EXPECT_FALSE(tokens.opens_port(token, "sba", 80, 1000));
  EXPECT_FALSE(tokens.opens_port(token, "sba", 81, 999));
  EXPECT_FALSE(tokens.opens_port(token, "sbb", 80, 999));
  EXPECT_TRUE(tokens.opens_port(tokens.port("sba", 80, 0), "sba", 80, 1'000'000'000));
}

TEST(SandboxTokensTest, ATokenThatWasChangedOpensNothing) {
  const SandboxTokens tokens{Secret("a key")};
  const std::string token = tokens.port("sba", 80, 1000);
  const std::string proof = token.substr(token.find('.'));
  for (const std::string& wrong : {"2000" + proof, "0" + proof, "-1" + proof, proof, std::string(), std::string("."),
                                   token + "0", "01000" + proof, token.substr(0, 20)})
    EXPECT_FALSE(tokens.opens_port(wrong, "sba", 80, 1)) << wrong;
}

}  // namespace
}  // namespace bj
