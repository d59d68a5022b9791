#include "control/sandbox_tokens.h"

#include <gtest/gtest.h>

#include "base/actor.h"
#include "base/compact_id.h"

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

TEST(SandboxTokensTest, AVolumesTokenNamesItsOwnerAndIsForThatVolumeAndThoseRights) {
  const SandboxTokens tokens{Secret("a key")};
  const std::string owner = kDefaultOrganization, volume = new_compact_id("vol"), other = new_compact_id("vol");
  const std::string writer = tokens.volume(owner, volume, TokenRights::kWrite);
  const std::string reader = tokens.volume(owner, volume, TokenRights::kRead);
  EXPECT_EQ(tokens.volume_owner(writer, volume, TokenRights::kWrite), owner);
  EXPECT_EQ(tokens.volume_owner(writer, volume, TokenRights::kRead), owner);
  EXPECT_EQ(tokens.volume_owner(reader, volume, TokenRights::kRead), owner);
  EXPECT_EQ(tokens.volume_owner(reader, volume, TokenRights::kWrite), std::nullopt);
  EXPECT_EQ(tokens.volume_owner(writer, other, TokenRights::kRead), std::nullopt);
  const std::string proof = writer.substr(writer.find('.'));
  const std::string stranger = "org-11111111-1111-4111-8111-111111111111";
  for (const std::string& wrong :
       {stranger + proof, proof, std::string(), owner, writer + "0", std::string(100'000, 'a') + proof})
    EXPECT_EQ(tokens.volume_owner(wrong, volume, TokenRights::kRead), std::nullopt) << wrong.substr(0, 100);
}

}  // namespace
}  // namespace bj
