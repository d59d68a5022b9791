// Secrets of organizations: values by name that nobody reads back. They are put into requests on their way out by rules
// of sandboxes that name them (api/e2b/header_rules.h). Each change of the value is a version of its own; only the
// newest is kept. Unlike a credential, a secret is bound to no host of its own.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "store/database.h"
#include "store/rows.h"
#include "store/vault.h"

namespace bj {

inline constexpr char kSecretTable[] = "secrets";

struct SecretRow {
  Text id;
  Text organization;
  Text name;
  int64_t version = 1;
  Text metadata = "{}";  // JSON, the owner's notes
  Stamp stamp;
};

class SecretTable {
 public:
  SecretTable(Database& database, Vault& vault) : database_(database), vault_(vault) {}

  // A name that is taken is kConflict.
  Result<SecretRow> create(const Actor& actor, const std::string& name, const std::string& metadata,
                           const Secret& value);
  // `reference`: its id or, of what is no id, its name. Without metadata, those that are there stay.
  Result<SecretRow> update(const Actor& actor, const std::string& reference, const std::optional<std::string>& metadata,
                           const Secret& value);
  Result<SecretRow> get(const std::string& organization, const std::string& reference);
  Result<std::vector<SecretRow>> list(const std::string& organization, const Page& page);
  Result<SecretRow> remove(const std::string& organization, const std::string& reference);
  // By name, those that there are.
  Result<std::map<std::string, Secret>> values(const std::string& organization, const std::vector<std::string>& names);

 private:
  Database& database_;
  Vault& vault_;
};

}  // namespace bj
