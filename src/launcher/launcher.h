// The one process that clones. It has no threads, keeps a private mount namespace with almost nothing in it (copying
// that is what a new mount namespace costs) and prepares network namespaces ahead. The server, which has threads, never
// forks; it sends plans here and gets descriptors back. It also keeps what is to outlive a server.
#pragma once

#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/fd.h"
#include "launcher/keeper_door.h"

namespace bj {

// Forks the launcher off this process, which must not have threads yet, and returns the socket to it. The launcher ends
// when the socket closes; with a door only when nothing lives any more of what it was told to keep (keeper.h): until
// then the next server may come in. `warden_program` becomes PID 1 of every sandbox.
Result<Fd> start_launcher(std::string_view warden_program, std::optional<Door> door = {});

}  // namespace bj
