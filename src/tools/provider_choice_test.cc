#include "tools/provider_choice.h"

#include <gmock/gmock.h>

namespace bj {
namespace {

using testing::ElementsAre;

TEST(ProviderChoiceTest, WithoutKeysEverythingIsLocal) {
  EXPECT_THAT(provider_order({}), ElementsAre("local"));
  EXPECT_THAT(provider_order({"modal", false, false}), ElementsAre("local"));
}

TEST(ProviderChoiceTest, AKeyMovesToolsToE2b) { EXPECT_THAT(provider_order({"", true, false}), ElementsAre("e2b")); }

TEST(ProviderChoiceTest, ModalIsForToolsThatAskAndFallsBackToTheDefault) {
  EXPECT_THAT(provider_order({"", false, true}), ElementsAre("local"));
  EXPECT_THAT(provider_order({"modal", false, true}), ElementsAre("modal", "local"));
  EXPECT_THAT(provider_order({"modal", true, true}), ElementsAre("modal", "e2b"));
}

TEST(ProviderChoiceTest, AToolCanStayAtHomeWhateverKeysThereAre) {
  EXPECT_THAT(provider_order({"local", true, true}), ElementsAre("local"));
}

}  // namespace
}  // namespace bj
