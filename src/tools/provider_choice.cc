#include "tools/provider_choice.h"

namespace bj {

std::vector<std::string> provider_order(const ProviderFacts& facts) {
  if (facts.wanted == "local" || facts.wanted == "e2b") return {facts.wanted};
  const std::string usual = facts.e2b_key ? "e2b" : "local";
  if (facts.wanted == "modal" && facts.modal_tokens) return {"modal", usual};
  return {usual};
}

}  // namespace bj
