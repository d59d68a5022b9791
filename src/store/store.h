// The store: one database with its vault and its tables. Open it once per process and share it; every table may be used
// by many threads. All calls block: run them on a worker thread.
#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "store/accounts.h"
#include "store/agent_table.h"
#include "store/audit_table.h"
#include "store/block_table.h"
#include "store/call_table.h"
#include "store/credential_table.h"
#include "store/database.h"
#include "store/network_policy_table.h"
#include "store/sandbox_config_table.h"
#include "store/sandbox_variable_table.h"
#include "store/tool_table.h"
#include "store/vault.h"

namespace bj {

struct StoreOptions {
  std::string database_url;    // postgresql://…; empty: SQLite in the data directory
  std::string data_directory;  // made, 0700, if missing
  VaultOptions vault;          // an empty key_file becomes <data directory>/secret.key
};

class Store {
 public:
  // Migrates, makes the default organization and user, settles which key is current. Each step is a transaction: after
  // a failure those before it stay, and the next open() goes on from there.
  static Result<std::unique_ptr<Store>> open(StoreOptions options);

  Database& database() { return *database_; }
  Vault& vault() { return *vault_; }
  OrganizationTable& organizations() { return organizations_; }
  UserTable& users() { return users_; }
  ApiKeyTable& api_keys() { return api_keys_; }
  ToolTable& tools() { return tools_; }
  AgentTable& agents() { return agents_; }
  BlockTable& blocks() { return blocks_; }
  SandboxConfigTable& sandbox_configs() { return sandbox_configs_; }
  SandboxVariableTable& sandbox_variables() { return sandbox_variables_; }
  NetworkPolicyTable& network_policies() { return network_policies_; }
  CredentialTable& credentials() { return credentials_; }
  CallTable& calls() { return calls_; }
  AuditTable& audit() { return audit_; }

 private:
  Store(std::unique_ptr<Database> database, std::unique_ptr<Vault> vault);

  std::unique_ptr<Database> database_;
  std::unique_ptr<Vault> vault_;
  OrganizationTable organizations_;
  UserTable users_;
  ApiKeyTable api_keys_;
  ToolTable tools_;
  AgentTable agents_;
  BlockTable blocks_;
  SandboxConfigTable sandbox_configs_;
  SandboxVariableTable sandbox_variables_;
  NetworkPolicyTable network_policies_;
  CredentialTable credentials_;
  CallTable calls_;
  AuditTable audit_;
};

// Re-encrypts every secret under a new key, batch by batch; yields how many values were changed. May be interrupted at
// any point: everything stays readable, and the next call goes on. Servers may run meanwhile.
Result<int64_t> rotate_secrets(Store& store);

}  // namespace bj
