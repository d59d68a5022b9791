// Sandboxes, their commands and files as our API shows them.
#pragma once

#include <boost/json/object.hpp>

#include "control/command_runner.h"
#include "control/live_sandbox.h"

namespace bj::native {

boost::json::object sandbox_json(const SandboxRow& row);
boost::json::object snapshot_json(const SnapshotView& snapshot);
boost::json::object metrics_json(const SandboxMetrics& metrics);
boost::json::object process_json(const LiveProcess& process);
// How a process ended.
boost::json::object end_json(const CommandResult& result);
boost::json::object command_json(int pid, const CommandResult& result);
boost::json::object file_json(const FileInfo& file);

}  // namespace bj::native
