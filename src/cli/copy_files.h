// Files in and out of a sandbox through the server, with a line of progress where somebody watches.
#pragma once

#include <string>

#include "base/error.h"
#include "cli/server_client.h"

namespace bj {

// One side is "ID:PATH", the other a file of this machine, "-" for stdin or stdout. The exit status.
Result<int> copy_files(ServerClient& server, const std::string& from, const std::string& to);

}  // namespace bj
