// Flags that several commands share. A flag is checked when it is parsed and waits in Context::overrides until the
// settings it goes over are loaded.
#pragma once

#include <CLI/App.hpp>
#include <map>
#include <string>
#include <vector>

#include "cli/context.h"

namespace bj {

void add_global_flags(CLI::App& app, Context& context);  // --config, --data, --database
void add_json_flag(CLI::App& command, Context& context, const std::string& help);
void add_limit_flags(CLI::App& command, Context& context);    // --timeout, --memory, ...
void add_sandbox_flags(CLI::App& command, Context& context);  // --template, --require-seal

// --env NAME=VALUE, checked; NAME alone takes the value of our own environment.
void add_env_flag(CLI::App& command, std::map<std::string, std::string>& into);

}  // namespace bj
