// The one process that clones. It has no threads, keeps a private mount namespace with almost nothing in it (copying
// that is what a new mount namespace costs) and prepares network namespaces ahead. The server, which has threads, never
// forks; it sends plans here and gets descriptors back.
#pragma once

#include "base/error.h"
#include "base/fd.h"

namespace bj {

// Forks the launcher off this process, which must not have threads yet, and returns the socket to it. The launcher ends
// when the socket closes. `warden` is the program that becomes PID 1 of every sandbox.
Result<Fd> start_launcher(std::string_view warden_program);

}  // namespace bj
