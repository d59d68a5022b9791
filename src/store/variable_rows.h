// Environment variables with secret values, wherever they hang: what the tables of sandbox configurations and of agents
// share. A value lies in `value_enc`; the column `value` is for clear values from before there was a key.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "store/database.h"
#include "store/rows.h"
#include "store/vault.h"

namespace bj {

struct VariableKind {
  std::string_view table;
  std::string_view owner_column;
  std::string_view id_prefix;
  std::string_view model;
};
inline constexpr VariableKind kSandboxVariables{"sandbox_environment_variables", "sandbox_config_id", "sandbox-env",
                                                "SandboxEnvironmentVariable"};
inline constexpr VariableKind kAgentVariables{"agent_environment_variables", "agent_id", "agent-env",
                                              "AgentEnvironmentVariable"};
inline constexpr VariableKind kLiveVariables{"live_sandbox_variables", "sandbox_id", "live-env", "SandboxVariable"};

std::string variable_columns(const VariableKind& kind);
// Prefers value_enc, then value, then "".
Result<VariableRow> variable_of(const Row& row, Vault& vault, const VariableKind& kind);
Result<std::vector<VariableRow>> variables_of(const std::vector<Row>& rows, Vault& vault, const VariableKind& kind);

// `key_id` is what Vault::write_key gave in the same transaction.
Result<VariableRow> insert_variable(Transaction& transaction, Vault& vault, const VariableKind& kind,
                                    const std::string& key_id, const Actor& actor, const std::string& owner,
                                    const NewVariable& variable);
Result<VariableRow> update_variable(Transaction& transaction, Vault& vault, const VariableKind& kind,
                                    const std::string& key_id, const Actor& actor, VariableRow current,
                                    const VariableChange& change);

}  // namespace bj
