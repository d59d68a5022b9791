// What TOOL_EXEC_DIR and TOOL_EXEC_VENV_NAME mean when the server starts: the default organization's local
// configuration, which is there from the first start on, takes them over, and its packages are installed anew. Unlike
// Letta, what was configured over the API (pip requirements, variables) stays.
#pragma once

#include "base/async.h"
#include "tools/config_manager.h"
#include "tools/tool_runner.h"
#include "tools/tool_settings.h"

namespace bj {

// A failure to install is a failure to start, as in Letta.
Task<Result<void>> apply_start_settings(const ToolSettings& settings, ConfigManager& configs, ToolRunner& runner,
                                        asio::thread_pool& threads);

}  // namespace bj
