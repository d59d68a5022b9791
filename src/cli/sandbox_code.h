// belljar sandbox code: executes code in a sandbox's interpreter and shows what comes of it as it comes.
#pragma once

#include "cli/context.h"

namespace CLI {
class App;
}

namespace bj {

void add_sandbox_code(CLI::App& sandbox, Context& context);

}  // namespace bj
