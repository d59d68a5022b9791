// Which providers a call may use, in order: the first is asked, the next only if the one before could not start it.
// The one place that decides this.
#pragma once

#include <string>
#include <vector>

namespace bj {

struct ProviderFacts {
  std::string wanted;         // the tool's metadata_.sandbox, empty: no wish
  bool e2b_key = false;       // E2B_API_KEY is set
  bool modal_tokens = false;  // MODAL_TOKEN_ID and MODAL_TOKEN_SECRET are
};

// "modal" is used by tools that ask for it when there are tokens, with the default as its fallback. The default is E2B
// when there is a key for it, else local. "e2b" and "local" are taken at their word: a tool that needs the private
// network must not leave this machine because a key was set.
std::vector<std::string> provider_order(const ProviderFacts& facts);

}  // namespace bj
