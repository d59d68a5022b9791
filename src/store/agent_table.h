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

// What a list shows; what is not set does not matter.
struct AgentFilter {
  MaybeText name;
  MaybeText search;  // part of a name, in any case
  MaybeText project;
  MaybeText block;                // agents that have it
  std::vector<std::string> tags;  // any of them; each as it stands in JSON
  std::vector<std::string> all_tags;
};

// What changes of an agent; what is not set stays. Each list is the whole set afterwards.
struct AgentChange {
  std::function<Result<void>(AgentRow&)> edit;
  std::optional<std::vector<std::string>> tool_ids;
  std::optional<std::vector<std::string>> block_ids;
  std::optional<std::vector<NewVariable>> variables;  // a value that stays the same keeps its row and its ciphertext
};

class AgentTable {
 public:
  AgentTable(Database& database, Vault& vault) : database_(database), vault_(vault) {}

  // All of it or nothing. A tool or block that is not this organization's is kNotFound.
  Result<AgentRow> create(const Actor& actor, NewAgent agent);
  Result<AgentRow> get(const std::string& organization, const std::string& id);
  Result<std::vector<AgentRow>> list(const std::string& organization, const Page& page, const AgentFilter& filter = {});
  // All of it or nothing, as in create.
  Result<AgentRow> change(const Actor& actor, const std::string& id, const AgentChange& change);
  // Its variables go with it. Its blocks stay: they are things of their own, which other agents may have or get.
  Result<AgentRow> remove(const std::string& organization, const std::string& id);

  Result<std::vector<ToolRow>> tools(const std::string& organization, const std::string& agent, const Page& page = {});
  // Nothing if there is no such tool, or it isn't attached.
  Result<std::optional<ToolRow>> attached_tool(const std::string& organization, const std::string& agent,
                                               const std::string& tool_name);
  Result<void> attach_tool(const Actor& actor, const std::string& agent, const std::string& tool);
  Result<void> detach_tool(const Actor& actor, const std::string& agent, const std::string& tool);

  Result<std::vector<BlockRow>> blocks(const std::string& organization, const std::string& agent,
                                       const Page& page = {});
  Result<BlockRow> add_block(const Actor& actor, const std::string& agent, BlockRow block);
  Result<void> attach_block(const Actor& actor, const std::string& agent, const std::string& block);
  Result<void> detach_block(const Actor& actor, const std::string& agent, const std::string& block);
  // Only a block of that agent: kNotFound for any other.
  Result<BlockRow> change_block(const Actor& actor, const std::string& agent, const std::string& block,
                                const std::function<Result<void>(BlockRow&)>& edit);

  Result<std::vector<VariableRow>> variables(const std::string& organization, const std::string& agent);

 private:
  Database& database_;
  Vault& vault_;
};

}  // namespace bj
