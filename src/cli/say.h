// What a command tells its user on stderr, apart from what tools print.
#pragma once

#include <string>

namespace bj {

// "belljar: SENTENCE", made harmless for terminals.
void complain(const std::string& sentence);
// The same for wrong usage; returns its exit status, 2.
int refuse(const std::string& sentence);

}  // namespace bj
