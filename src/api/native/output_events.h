// A process's output as server-sent events, to whoever still listens: start, stdout, stderr, terminal, gap, end.
#pragma once

#include <memory>

#include "api/client_watch.h"
#include "control/command_runner.h"
#include "server/event_stream.h"

namespace bj::native {

// From `from` on to the end of the process, or until the client has left, which a silent process does not tell: it is
// looked after every second.
Task<void> send_output(std::shared_ptr<LiveProcess> process, uint64_t from, EventStream& events);

}  // namespace bj::native
