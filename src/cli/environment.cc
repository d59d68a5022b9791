#include "cli/environment.h"

#include <unistd.h>

namespace bj {

std::string interpreter_for(const Settings& settings, const std::string& flag) {
  if (!flag.empty()) return flag;
  if (!settings.interpreter.empty()) return settings.interpreter;
  // The base template shows the host's own /usr.
  const bool system_python = settings.template_name == "base" && ::access("/usr/bin/python3", X_OK) == 0;
  return system_python ? "/usr/bin/python3" : "python3";
}

}  // namespace bj
