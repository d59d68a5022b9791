// Rows as Letta's clients expect them in JSON.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "base/actor.h"
#include "store/rows.h"
#include "tools/tool_runner.h"

namespace bj::letta {

boost::json::object tool_json(const ToolRow& tool);
boost::json::array tools_json(const std::vector<ToolRow>& tools);
boost::json::object config_json(const SandboxConfigRow& config);

// Letta's API shows values of secrets in clear. Ours does so to keys that could run code with them anyway; to those
// that may only read, never.
enum class Secrets { kShown, kMasked };
Secrets shown_to(const Actor& actor);
boost::json::object sandbox_variable_json(const VariableRow& variable, Secrets secrets);
boost::json::object block_json(const BlockRow& block);

struct WholeAgent {
  AgentRow row;
  std::vector<ToolRow> tools;
  std::vector<BlockRow> blocks;
  std::vector<VariableRow> variables;
};
boost::json::object agent_json(const WholeAgent& agent, Secrets secrets);

// ToolExecutionResult, and the ToolReturnMessage of POST /v1/tools/run.
boost::json::object execution_json(const RunOutcome& outcome);
boost::json::object return_message_json(const RunOutcome& outcome, const boost::json::value& name);

}  // namespace bj::letta
