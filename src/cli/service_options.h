// The tool service as the settings describe it.
#pragma once

#include "cli/settings.h"
#include "service/tool_service.h"

namespace bj {

// The settings under Letta's names, from the environment and the config file.
Result<ToolSettings> tool_settings_of(const Settings& settings);

Result<ServiceOptions> service_options(const Settings& settings);

}  // namespace bj
