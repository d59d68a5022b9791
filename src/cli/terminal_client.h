// The user's terminal joined to one in a sandbox, over the server's WebSocket. Blocks until the shell inside ends or
// the connection does.
#pragma once

#include <string>

#include "base/error.h"
#include "cli/server_client.h"

namespace bj {

// `path`: of the terminal's route, with its query. The status that the shell ended with.
Result<int> join_terminal(const ServerClient& server, const std::string& path);

}  // namespace bj
