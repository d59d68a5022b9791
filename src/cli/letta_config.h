// What Letta's own config files say of the tool service: ~/.letta/conf.yaml, then the file that LETTA_CONFIG_PATH
// names, which wins. Its `letta:` and `tool:` sections become names as Letta makes them: tool.e2b.api_key is
// E2B_API_KEY.
//
// Nested keys with one-line values are read, which is what settings are; everything else in such a file is passed over,
// as are files that can't be read. ./conf.yaml, which Letta reads too, is not: a directory that a server happens to be
// started in must not configure it.
#pragma once

#include <string>
#include <vector>

#include "cli/settings.h"
#include "tools/tool_settings.h"

namespace bj {

// Only settings that exist, each with `file`:line as its origin.
std::vector<GivenSetting> read_letta_config(const std::string& text, const std::string& file);
std::vector<GivenSetting> letta_config_files(const Lookup& environment);
// What files say of the tool service: Letta's first, then ours, which win.
std::vector<GivenSetting> file_settings(const Settings& settings);

}  // namespace bj
