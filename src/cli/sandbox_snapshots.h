// `belljar sandbox stop|start|snapshot|snapshots|fork|rollback`: what happens to a sandbox's files.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/context.h"

namespace bj {

// Adds them below `belljar sandbox`.
void add_sandbox_snapshots(CLI::App* parent, Context& context);

}  // namespace bj
