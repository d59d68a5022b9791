// Organizations, their users, and the keys that let programs in. A key is 160 random bits, shown once, when it is made,
// in the form that E2B's clients insist on, so that one key serves every API; the database holds its SHA-256. Keys of
// 256 bits that older versions made ("bj_...") go on to work.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "store/database.h"
#include "store/rows.h"

namespace bj {

class OrganizationTable {
 public:
  explicit OrganizationTable(Database& database) : database_(database) {}
  Result<OrganizationRow> create(const std::string& name);
  Result<OrganizationRow> get(const std::string& id);
  Result<std::vector<OrganizationRow>> list();

 private:
  Database& database_;
};

class UserTable {
 public:
  explicit UserTable(Database& database) : database_(database) {}
  Result<UserRow> create(const std::string& organization, const std::string& name);
  // By id alone: a request's `user_id` header is what names the organization.
  Result<std::optional<UserRow>> find(const std::string& id);
  Result<std::vector<UserRow>> list(const std::string& organization);

 private:
  Database& database_;
};

std::string_view role_name(Role role);  // admin | member | read-only
Result<Role> role_of(std::string_view name);

class ApiKeyTable {
 public:
  struct Made {
    ApiKeyRow row;
    Secret key;  // "e2b_" and 40 hexadecimal digits; not kept anywhere
  };

  explicit ApiKeyTable(Database& database) : database_(database) {}
  Result<Made> create(const Actor& owner, const std::string& name, Role role, const KeyLimits& limits = {});
  // The hot path of every request. Nothing for an unknown or revoked key.
  Result<std::optional<ApiKeyRow>> find(const Secret& key);
  Result<std::vector<ApiKeyRow>> list(const std::string& organization);
  Result<ApiKeyRow> revoke(const std::string& organization, const std::string& id);
  // Records a use of a key that was just found; a later one within a minute is not written again, nor waits for
  // writers.
  Result<void> touch(const ApiKeyRow& key);

 private:
  Database& database_;
};

}  // namespace bj
