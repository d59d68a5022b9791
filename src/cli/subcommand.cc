// In a file of its own: whoever calls CLI11's own add_subcommand compiles its parser, help and config reader anew.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "cli/context.h"

namespace bj {

CLI::App* add_subcommand(CLI::App& parent, const std::string& name, const std::string& help) {
  return parent.add_subcommand(name, help);
}

}  // namespace bj
