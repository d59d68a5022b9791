// An engine around one piece of work: made before any thread exists, started, stopped on every path.
//
// SIGINT and SIGTERM stop the work: the wait it is in fails, it is expected to destroy its sandboxes and return, and
// the status becomes 128 + signal. A second signal ends the process at once, and so does a stop that takes too long;
// the kernel then kills what is inside sandboxes, and the next start removes what is left.
#pragma once

#include <functional>

#include "base/async.h"
#include "cli/settings.h"
#include "engine/engine.h"

namespace bj {

// Returns the work's status; 3, after one sentence on stderr, if there could be no engine. An empty data_directory in
// `options` is taken from the settings. (`with_engine(settings, engine_options(settings), work)` has the settings'
// pools.)
int with_engine(const Settings& settings, EngineOptions options, const std::function<Task<int>(Engine&)>& work);

// In a piece of work: true once a signal asked it to stop. What failed after that is not worth a message.
Task<bool> interrupted();

// The exit status for an engine's failure: 2 if the caller asked for something that can't be, else 3.
int status_of(const Error& error);

}  // namespace bj
