// Environment variables of sandbox configurations. Values are encrypted at rest and handed out as Secret.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "store/database.h"
#include "store/rows.h"
#include "store/vault.h"

namespace bj {

class SandboxVariableTable {
 public:
  SandboxVariableTable(Database& database, Vault& vault) : database_(database), vault_(vault) {}

  // By (key, configuration). An existing one takes the value and, if there is one, the description. A configuration
  // that is not this organization's is kDangling, as one that does not exist.
  Result<VariableRow> upsert(const Actor& actor, const std::string& config, const NewVariable& variable);
  // The same value keeps its ciphertext, no change at all keeps the row. A key that is taken is kConflict.
  Result<VariableRow> change(const Actor& actor, const std::string& id, const VariableChange& change);
  Result<VariableRow> remove(const std::string& organization, const std::string& id);
  Result<VariableRow> get(const std::string& organization, const std::string& id);
  Result<std::optional<VariableRow>> find(const std::string& organization, const std::string& config,
                                          const std::string& key);
  // In order of creation; {} as page: all of them, which is what a call's environment is made of.
  Result<std::vector<VariableRow>> list(const std::string& organization, const std::string& config, const Page& page);
  Result<std::vector<VariableRow>> list_by_key(const std::string& organization, const std::string& key,
                                               const Page& page);

 private:
  Database& database_;
  Vault& vault_;
};

}  // namespace bj
