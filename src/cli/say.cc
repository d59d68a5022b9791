#include "cli/say.h"

#include <unistd.h>

#include "cli/context.h"
#include "cli/terminal.h"

namespace bj {

void complain(const std::string& sentence) { print_untrusted(STDERR_FILENO, "belljar: " + sentence + "\n"); }

int refuse(const std::string& sentence) {
  complain(sentence);
  return kExitUsage;
}

}  // namespace bj
