// What a tool sees of its agent, and what it may change of it: the values of the memory blocks that it was given, and
// nothing else. A state that comes back is hostile: blocks are matched by the ids that were sent, to the same agent.
#pragma once

#include <boost/json/object.hpp>
#include <map>
#include <string>
#include <vector>

#include "base/actor.h"
#include "store/store.h"

namespace bj {

struct AgentForTool {
  AgentRow row;
  std::vector<BlockRow> blocks;
  std::vector<VariableRow> variables;
};

// Blocks.
Result<AgentForTool> load_agent(Store& store, const Actor& actor, const std::string& id);

// The state as the tool's `agent_state` parameter is made from: no tools, no rules, no secrets (they are in the
// environment).
boost::json::object agent_state_json(const AgentForTool& agent);

// The block values that differ from what was sent, by block id. Unknown ids, other labels, read-only blocks, values
// that are no text or longer than the block's limit are left out.
std::map<std::string, std::string> changed_blocks(const AgentForTool& agent, const boost::json::value& returned);

// Blocks.
Result<void> write_back(Store& store, const Actor& actor, const AgentForTool& agent,
                        const std::map<std::string, std::string>& changed);

}  // namespace bj
