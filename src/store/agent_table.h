// Agents, as far as tools need them: which tools are attached, memory blocks, secret environment variables.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "store/database.h"
#include "store/rows.h"
#include "store/vault.h"

namespace bj {

struct NewAgent {
  AgentRow row;
  std::vector<std::string> tool_ids;
  std::vector<BlockRow> blocks;        // made with the agent
  std::vector<std::string> block_ids;  // existing ones
  std::vector<NewVariable> variables;
};

class AgentTable {
 public:
  AgentTable(Database& database, Vault& vault) : database_(database), vault_(vault) {}

  // All of it or nothing. A tool or block that is not this organization's is kNotFound.
  Result<AgentRow> create(const Actor& actor, NewAgent agent);
  Result<AgentRow> get(const std::string& organization, const std::string& id);
  Result<std::vector<AgentRow>> list(const std::string& organization, const Page& page, const MaybeText& name = {});
  Result<AgentRow> change(const Actor& actor, const std::string& id,
                          const std::function<Result<void>(AgentRow&)>& edit);
  // Its variables go with it. Its blocks stay: they are things of their own, which other agents may have or get.
  Result<AgentRow> remove(const std::string& organization, const std::string& id);

  Result<std::vector<ToolRow>> tools(const std::string& organization, const std::string& agent);
  // Nothing if there is no such tool, or it isn't attached.
  Result<std::optional<ToolRow>> attached_tool(const std::string& organization, const std::string& agent,
                                               const std::string& tool_name);
  Result<void> attach_tool(const Actor& actor, const std::string& agent, const std::string& tool);
  Result<void> detach_tool(const Actor& actor, const std::string& agent, const std::string& tool);
  Result<void> set_tools(const Actor& actor, const std::string& agent, const std::vector<std::string>& tool_ids);

  Result<std::vector<BlockRow>> blocks(const std::string& organization, const std::string& agent);
  Result<BlockRow> add_block(const Actor& actor, const std::string& agent, BlockRow block);
  Result<void> attach_block(const Actor& actor, const std::string& agent, const std::string& block);
  Result<void> detach_block(const Actor& actor, const std::string& agent, const std::string& block);
  // Only a block of that agent: kNotFound for any other.
  Result<BlockRow> change_block(const Actor& actor, const std::string& agent, const std::string& block,
                                const std::function<Result<void>(BlockRow&)>& edit);

  Result<std::vector<VariableRow>> variables(const std::string& organization, const std::string& agent);
  // Replaces the whole set. A value that stays the same keeps its row and its ciphertext.
  Result<void> set_variables(const Actor& actor, const std::string& agent, const std::vector<NewVariable>& variables);

 private:
  Database& database_;
  Vault& vault_;
};

}  // namespace bj
