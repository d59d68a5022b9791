// How a tool lies in its table: for the two tables that read tools.
#pragma once

#include <string>
#include <string_view>

#include "store/database.h"
#include "store/rows.h"

namespace bj {

// "id, organization_id, …", each with the prefix in front ("tools.").
std::string tool_columns(std::string_view prefix = "");
ToolRow tool_of(const Row& row);

}  // namespace bj
