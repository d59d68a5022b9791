// What the calls of an organization may reach at most: one policy an organization, as the JSON that its administrators
// wrote.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/error.h"
#include "store/database.h"
#include "store/rows.h"

namespace bj {

class NetworkPolicyTable {
 public:
  explicit NetworkPolicyTable(Database& database) : database_(database) {}

  Result<std::optional<NetworkPolicyRow>> find(const std::string& organization);
  Result<NetworkPolicyRow> put(const Actor& actor, const std::string& policy);
  // kNotFound if there is none.
  Result<void> remove(const std::string& organization);
  // For each organization that has a policy or credentials, a text that is another one once any of them has changed.
  Result<std::map<std::string, std::string>> stamps();

 private:
  Database& database_;
};

}  // namespace bj
