// The programs that belong inside sandboxes and travel inside this binary: the warden, sudo, the language runtimes.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace bj {

std::string_view embedded_warden();

// Source of the Python tool that derives a tool's JSON schema (runtimes/python/schema): to be run as an ordinary call
// of its function `derive`. Empty only if the build left it out.
std::string_view embedded_schema_tool();

// Writes the runtimes to <directory>/<their hash>/ unless they are there; the answer is that path. It is mounted
// read-only at /opt/belljar in every sandbox.
Result<std::string> install_runtimes(const std::string& directory);

}  // namespace bj
