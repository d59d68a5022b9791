// Which interpreter tools get, for the commands that call them.
#pragma once

#include <string>

#include "cli/settings.h"

namespace bj {

// The flag, else the setting; else /usr/bin/python3 where the base template has it (a newer one in /usr/local may lack
// the system's packages), else python3 on the template's PATH.
std::string interpreter_for(const Settings& settings, const std::string& flag);

}  // namespace bj
