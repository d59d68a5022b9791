#include "store/agent_table.h"

#include <algorithm>

#include "base/id.h"
#include "store/block_rows.h"
#include "store/sql.h"
#include "store/tool_row.h"
#include "store/variable_rows.h"

namespace bj {
namespace {

#define AGENT_COLUMNS                                                                                                 \
  "id, organization_id, name, description, system, agent_type, tags, metadata_, project_id, created_at, updated_at, " \
  "created_by_id, last_updated_by_id"

AgentRow agent_of(const Row& row) {
  AgentRow agent;
  agent.id = row.text(0);
  agent.organization = row.text(1);
  agent.name = row.text(2);
  agent.description = row.maybe_text(3);
  agent.system = row.maybe_text(4);
  agent.agent_type = row.text(5);
  agent.tags = row.text(6);
  agent.metadata = row.text(7);
  agent.project_id = row.maybe_text(8);
  agent.stamp = {row.integer(9), row.integer(10), row.maybe_text(11), row.maybe_text(12)};
  return agent;
}

// Is there such a row in the organization? The foreign keys say the same, but not which row it was.
Result<void> require(Transaction& transaction, std::string_view model, std::string_view table,
                     const std::string& organization, const std::string& id) {
  BJ_TRY(const Rows rows,
         transaction.run("SELECT id FROM " + std::string(table) + " WHERE id = $1 AND organization_id = $2",
                         {id, organization}));
  if (rows.rows.empty()) return fail_not_found(model, id);
  return {};
}

// Like require, and keeps others from changing what hangs on the agent until the commit.
Result<AgentRow> lock_agent(Transaction& transaction, const std::string& organization, const std::string& id) {
  BJ_TRY(Rows rows, transaction.run("SELECT " AGENT_COLUMNS " FROM agents WHERE id = $1 AND organization_id = $2" +
                                        std::string(for_update(transaction)),
                                    {id, organization}));
  BJ_TRY(const Row row, only_row(std::move(rows), "Agent", id));
  return agent_of(row);
}

Result<void> insert_agent(Transaction& transaction, const AgentRow& agent) {
  BJ_CHECK(transaction.run("INSERT INTO agents (" AGENT_COLUMNS
                           ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
                           {agent.id, agent.organization, agent.name, agent.description, agent.system, agent.agent_type,
                            agent.tags, agent.metadata, agent.project_id, agent.stamp.created_at,
                            agent.stamp.updated_at, agent.stamp.created_by, agent.stamp.updated_by}));
  return {};
}

Result<void> attach(Transaction& transaction, const std::string& organization, const std::string& agent,
                    const std::string& tool) {
  BJ_CHECK(require(transaction, "Tool", "tools", organization, tool));
  BJ_CHECK(
      transaction.run("INSERT INTO agent_tools (agent_id, tool_id, organization_id) VALUES ($1, $2, $3) "
                      "ON CONFLICT (agent_id, tool_id) DO NOTHING",
                      {agent, tool, organization}));
  return {};
}

// The tools or blocks that it has are only those.
Result<void> replace_tools(Transaction& transaction, const Actor& actor, const std::string& agent,
                           const std::vector<std::string>& wanted) {
  BJ_CHECK(transaction.run("DELETE FROM agent_tools WHERE agent_id = $1", {agent}));
  for (const std::string& tool : wanted) BJ_CHECK(attach(transaction, actor.organization, agent, tool));
  return {};
}

Result<void> replace_blocks(Transaction& transaction, const Actor& actor, const std::string& agent,
                            const std::vector<std::string>& wanted) {
  BJ_CHECK(transaction.run("DELETE FROM agent_blocks WHERE agent_id = $1", {agent}));
  for (const std::string& block : wanted) BJ_CHECK(attach_block(transaction, actor, agent, block));
  return {};
}

Result<void> replace_variables(Transaction& transaction, Vault& vault, const Actor& actor, const std::string& agent,
                               const std::vector<NewVariable>& wanted) {
  BJ_TRY(const std::string key_id, vault.write_key(transaction));
  BJ_TRY(const Rows rows,
         transaction.run("SELECT " + variable_columns(kAgentVariables) +
                             " FROM agent_environment_variables WHERE agent_id = $1 AND organization_id = $2",
                         {agent, actor.organization}));
  BJ_TRY(std::vector<VariableRow> present, variables_of(rows.rows, vault, kAgentVariables));
  for (const VariableRow& variable : present) {
    const auto same_key = [&](const NewVariable& other) { return other.key == variable.key; };
    if (std::none_of(wanted.begin(), wanted.end(), same_key))
      BJ_CHECK(transaction.run("DELETE FROM agent_environment_variables WHERE id = $1", {variable.id}));
  }
  for (const NewVariable& variable : wanted) {
    const auto same_key = [&](const VariableRow& other) { return other.key == variable.key; };
    const auto found = std::find_if(present.begin(), present.end(), same_key);
    if (found == present.end()) {
      BJ_CHECK(insert_variable(transaction, vault, kAgentVariables, key_id, actor, agent, variable));
    } else {
      const VariableChange change{{}, variable.value.copy(), variable.description};
      BJ_CHECK(update_variable(transaction, vault, kAgentVariables, key_id, actor, std::move(*found), change));
    }
  }
  return {};
}

// `pattern` outlives the statement.
void add_conditions(Sql& sql, const AgentFilter& filter, const std::string& pattern) {
  if (filter.name) sql.add(" AND name = ").bind(*filter.name);
  if (filter.search) sql.add(" AND LOWER(name) LIKE LOWER(").bind(pattern).add(") ESCAPE '\\'");
  if (filter.project) sql.add(" AND project_id = ").bind(*filter.project);
  if (filter.block)
    sql.add(" AND id IN (SELECT agent_id FROM agent_blocks WHERE block_id = ").bind(*filter.block).add(")");
  add_any_tag(sql, filter.tags);
  for (const std::string& tag : filter.all_tags) add_any_tag(sql, {&tag, 1});
}

}  // namespace

Result<AgentRow> AgentTable::create(const Actor& actor, NewAgent agent) {
  AgentRow& row = agent.row;
  if (row.id.empty()) row.id = new_id("agent");
  row.organization = actor.organization;
  const int64_t now = now_us();
  row.stamp = {now, now, actor.user, actor.user};
  BJ_CHECK(database_.transact([&](Transaction& transaction) -> Result<void> {
    BJ_CHECK(insert_agent(transaction, row));
    for (const std::string& tool : agent.tool_ids) BJ_CHECK(attach(transaction, row.organization, row.id, tool));
    int64_t place = 0;  // in time, so that they are listed in this order
    for (const BlockRow& block : agent.blocks) BJ_CHECK(insert_block(transaction, actor, row.id, block, now + place++));
    for (const std::string& block : agent.block_ids) BJ_CHECK(bj::attach_block(transaction, actor, row.id, block));
    if (agent.variables.empty()) return {};
    return replace_variables(transaction, vault_, actor, row.id, agent.variables);
  }));
  return std::move(row);
}

Result<AgentRow> AgentTable::get(const std::string& organization, const std::string& id) {
  BJ_TRY(Rows rows, database_.read("SELECT " AGENT_COLUMNS " FROM agents WHERE id = $1 AND organization_id = $2",
                                   {id, organization}));
  BJ_TRY(const Row row, only_row(std::move(rows), "Agent", id));
  return agent_of(row);
}

Result<std::vector<AgentRow>> AgentTable::list(const std::string& organization, const Page& page,
                                               const AgentFilter& filter) {
  BJ_CHECK(check_search(filter.search, filter.tags.size() + filter.all_tags.size()));
  const std::string pattern = like_pattern(filter.search.value_or(""));
  Sql sql("SELECT " AGENT_COLUMNS " FROM agents WHERE organization_id = ");
  sql.bind(organization);
  add_conditions(sql, filter, pattern);
  BJ_TRY(const auto rows, read_page(database_, std::move(sql), {"Agent", "agents"}, organization, page));
  std::vector<AgentRow> list;
  for (const Row& row : rows) list.push_back(agent_of(row));
  return list;
}

Result<AgentRow> AgentTable::change(const Actor& actor, const std::string& id, const AgentChange& change) {
  return database_.transact_value<AgentRow>([&](Transaction& transaction) -> Result<AgentRow> {
    BJ_TRY(const AgentRow before, lock_agent(transaction, actor.organization, id));
    AgentRow agent = before;
    if (change.edit) BJ_CHECK(change.edit(agent));
    agent.id = before.id;
    agent.organization = before.organization;
    agent.stamp = {before.stamp.created_at, now_us(), before.stamp.created_by, actor.user};
    BJ_CHECK(transaction.run(
        "UPDATE agents SET name = $1, description = $2, system = $3, agent_type = $4, tags = $5, metadata_ = $6, "
        "project_id = $7, updated_at = $8, last_updated_by_id = $9 WHERE id = $10",
        {agent.name, agent.description, agent.system, agent.agent_type, agent.tags, agent.metadata, agent.project_id,
         agent.stamp.updated_at, agent.stamp.updated_by, agent.id}));
    if (change.tool_ids) BJ_CHECK(replace_tools(transaction, actor, id, *change.tool_ids));
    if (change.block_ids) BJ_CHECK(replace_blocks(transaction, actor, id, *change.block_ids));
    if (change.variables) BJ_CHECK(replace_variables(transaction, vault_, actor, id, *change.variables));
    return agent;
  });
}

Result<AgentRow> AgentTable::remove(const std::string& organization, const std::string& id) {
  BJ_TRY(Rows rows,
         database_.write("DELETE FROM agents WHERE id = $1 AND organization_id = $2 RETURNING " AGENT_COLUMNS,
                         {id, organization}));
  BJ_TRY(const Row row, only_row(std::move(rows), "Agent", id));
  return agent_of(row);
}

Result<std::vector<ToolRow>> AgentTable::tools(const std::string& organization, const std::string& agent,
                                               const Page& page) {
  Sql sql("SELECT " + tool_columns("tools.") +
          " FROM agent_tools JOIN tools ON tools.id = agent_tools.tool_id WHERE agent_tools.agent_id = ");
  sql.bind(agent).add(" AND agent_tools.organization_id = ").bind(organization);
  const Listing listing{"Tool", "tools", "tools.created_at"};
  BJ_TRY(const std::vector<Row> rows, read_page(database_, std::move(sql), listing, organization, page));
  std::vector<ToolRow> tools;
  for (const Row& row : rows) tools.push_back(tool_of(row));
  return tools;
}

Result<std::optional<ToolRow>> AgentTable::attached_tool(const std::string& organization, const std::string& agent,
                                                         const std::string& tool_name) {
  static const std::string kSql = "SELECT " + tool_columns("tools.") +
                                  " FROM tools JOIN agent_tools ON agent_tools.tool_id = tools.id "
                                  "WHERE tools.name = $1 AND tools.organization_id = $2 AND agent_tools.agent_id = $3";
  BJ_TRY(const Rows rows, database_.read(kSql, {tool_name, organization, agent}));
  if (rows.rows.empty()) return std::nullopt;
  return tool_of(rows.rows[0]);
}

Result<void> AgentTable::attach_tool(const Actor& actor, const std::string& agent, const std::string& tool) {
  return database_.transact([&](Transaction& transaction) -> Result<void> {
    BJ_CHECK(lock_agent(transaction, actor.organization, agent));
    return attach(transaction, actor.organization, agent, tool);
  });
}

Result<void> AgentTable::detach_tool(const Actor& actor, const std::string& agent, const std::string& tool) {
  return database_.transact([&](Transaction& transaction) -> Result<void> {
    BJ_CHECK(lock_agent(transaction, actor.organization, agent));
    BJ_CHECK(transaction.run("DELETE FROM agent_tools WHERE agent_id = $1 AND tool_id = $2", {agent, tool}));
    return {};
  });
}

Result<std::vector<BlockRow>> AgentTable::blocks(const std::string& organization, const std::string& agent,
                                                 const Page& page) {
  return read_blocks(database_, organization, agent, page);
}

Result<BlockRow> AgentTable::add_block(const Actor& actor, const std::string& agent, BlockRow block) {
  return database_.transact_value<BlockRow>([&](Transaction& transaction) -> Result<BlockRow> {
    BJ_CHECK(lock_agent(transaction, actor.organization, agent));
    return insert_block(transaction, actor, agent, block, now_us());
  });
}

Result<void> AgentTable::attach_block(const Actor& actor, const std::string& agent, const std::string& block) {
  return database_.transact([&](Transaction& transaction) -> Result<void> {
    BJ_CHECK(lock_agent(transaction, actor.organization, agent));
    return bj::attach_block(transaction, actor, agent, block);
  });
}

Result<void> AgentTable::detach_block(const Actor& actor, const std::string& agent, const std::string& block) {
  return database_.transact([&](Transaction& transaction) -> Result<void> {
    BJ_CHECK(lock_agent(transaction, actor.organization, agent));
    return bj::detach_block(transaction, agent, block);
  });
}

Result<BlockRow> AgentTable::change_block(const Actor& actor, const std::string& agent, const std::string& block,
                                          const std::function<Result<void>(BlockRow&)>& edit) {
  return database_.transact_value<BlockRow>(
      [&](Transaction& transaction) { return update_block(transaction, actor, agent, block, edit); });
}

Result<std::vector<VariableRow>> AgentTable::variables(const std::string& organization, const std::string& agent) {
  static const std::string kSql = "SELECT " + variable_columns(kAgentVariables) +
                                  " FROM agent_environment_variables WHERE agent_id = $1 AND organization_id = $2 "
                                  "ORDER BY created_at, id";
  BJ_TRY(const Rows rows, database_.read(kSql, {agent, organization}));
  return variables_of(rows.rows, vault_, kAgentVariables);
}

}  // namespace bj
