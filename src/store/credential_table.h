// Credentials: secrets that the gate gives to requests on their way out. A value is encrypted at rest, bound to its
// row, and handed out for calls only: lists have no values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "store/database.h"
#include "store/rows.h"
#include "store/vault.h"

namespace bj {

inline constexpr char kCredentialTable[] = "credentials";

struct CredentialWithValue {
  CredentialRow row;
  Secret value;
};

class CredentialTable {
 public:
  CredentialTable(Database& database, Vault& vault) : database_(database), vault_(vault) {}

  // A name that is taken is kConflict.
  Result<CredentialRow> create(const Actor& actor, const std::string& name, const std::string& binding,
                               const Secret& value);
  // Makes it, or gives the one of that name another binding and, if there is one, another value. Without a value there
  // must be one of that name: kNotFound.
  Result<CredentialRow> put(const Actor& actor, const std::string& name, const std::string& binding,
                            const std::optional<Secret>& value);
  Result<CredentialRow> get(const std::string& organization, const std::string& name);
  Result<std::vector<CredentialRow>> list(const std::string& organization);
  // Those of these names that the organization has.
  Result<std::vector<CredentialWithValue>> find(const std::string& organization, const std::vector<std::string>& names);
  Result<CredentialRow> remove(const std::string& organization, const std::string& name);

 private:
  Database& database_;
  Vault& vault_;
};

}  // namespace bj
