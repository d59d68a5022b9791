#include "store/accounts.h"

#include "base/id.h"
#include "store/crypto.h"
#include "store/sql.h"

namespace bj {
namespace {

constexpr std::string_view kKeyPrefix = "e2b_";
constexpr size_t kKeyBytes = 20;
constexpr size_t kKeySize = 4 + 2 * kKeyBytes;
constexpr std::string_view kOldPrefix = "bj_";
constexpr size_t kOldSize = 3 + 43;
constexpr int64_t kTouchEvery_us = 60'000'000;
constexpr char kKeyColumns[] =
    "id, organization_id, user_id, name, role, created_at, last_used_at, revoked_at, requests_per_second, runs_at_once";

OrganizationRow organization_of(const Row& row) { return {row.text(0), row.text(1), row.integer(2)}; }
UserRow user_of(const Row& row) { return {row.text(0), row.text(1), row.text(2), row.integer(3)}; }

Result<ApiKeyRow> api_key_of(const Row& row) {
  BJ_TRY(const Role role, role_of(row.text(4)));
  return ApiKeyRow{row.text(0),
                   row.text(1),
                   row.text(2),
                   row.text(3),
                   role,
                   row.integer(5),
                   row.maybe_integer(6),
                   row.maybe_integer(7),
                   {row.is_null(8) ? std::optional<double>() : row.real(8), row.maybe_integer(9)}};
}

}  // namespace

Result<OrganizationRow> OrganizationTable::create(const std::string& name) {
  OrganizationRow row{new_id("org"), name, now_us()};
  BJ_CHECK(database_.write("INSERT INTO organizations (id, name, created_at) VALUES ($1, $2, $3)",
                           {row.id, row.name, row.created_at}));
  return row;
}

Result<OrganizationRow> OrganizationTable::get(const std::string& id) {
  BJ_TRY(Rows rows, database_.read("SELECT id, name, created_at FROM organizations WHERE id = $1", {id}));
  BJ_TRY(const Row row, only_row(std::move(rows), "Organization", id));
  return organization_of(row);
}

Result<std::vector<OrganizationRow>> OrganizationTable::list() {
  BJ_TRY(const Rows rows, database_.read("SELECT id, name, created_at FROM organizations ORDER BY created_at, id"));
  std::vector<OrganizationRow> list;
  for (const Row& row : rows.rows) list.push_back(organization_of(row));
  return list;
}

Result<UserRow> UserTable::create(const std::string& organization, const std::string& name) {
  UserRow row{new_id("user"), organization, name, now_us()};
  BJ_CHECK(database_.write("INSERT INTO users (id, organization_id, name, created_at) VALUES ($1, $2, $3, $4)",
                           {row.id, row.organization, row.name, row.created_at}));
  return row;
}

Result<std::optional<UserRow>> UserTable::find(const std::string& id) {
  BJ_TRY(const Rows rows,
         database_.read("SELECT id, organization_id, name, created_at FROM users WHERE id = $1", {id}));
  if (rows.rows.empty()) return std::nullopt;
  return user_of(rows.rows[0]);
}

Result<std::vector<UserRow>> UserTable::list(const std::string& organization) {
  BJ_TRY(const Rows rows,
         database_.read("SELECT id, organization_id, name, created_at FROM users WHERE organization_id = $1 "
                        "ORDER BY created_at, id",
                        {organization}));
  std::vector<UserRow> list;
  for (const Row& row : rows.rows) list.push_back(user_of(row));
  return list;
}

std::string_view role_name(Role role) {
  switch (role) {
    case Role::kAdmin: return "admin";
    case Role::kMember: return "member";
    case Role::kReadOnly: break;
  }
  return "read-only";
}

Result<Role> role_of(std::string_view name) {
  for (const Role role : {Role::kAdmin, Role::kMember, Role::kReadOnly})
    if (name == role_name(role)) return role;
  return fail(Code::kInvalid, "a role is admin, member or read-only, not '" + std::string(name) + "'");
}

Result<ApiKeyTable::Made> ApiKeyTable::create(const Actor& owner, const std::string& name, Role role,
                                              const KeyLimits& limits) {
  BJ_TRY(std::string bits, random_bytes(kKeyBytes));
  const Secret random = Secret::take(std::move(bits));
  Secret key = Secret::take(std::string(kKeyPrefix) + to_hex(random.reveal()));
  BJ_TRY(const std::string hash, sha256(key.reveal()));
  ApiKeyRow row{new_id("key"), owner.organization, owner.user, name, role, now_us(), {}, {}, limits};
  // The user must be one of that organization.
  BJ_TRY(const Rows done,
         database_.write("INSERT INTO api_keys (id, organization_id, user_id, name, role, key_hash, created_at, "
                         "requests_per_second, runs_at_once) "
                         "SELECT CAST($1 AS TEXT), organization_id, id, CAST($2 AS TEXT), CAST($3 AS TEXT), "
                         "CAST($4 AS TEXT), CAST($5 AS BIGINT), CAST($6 AS DOUBLE PRECISION), CAST($7 AS BIGINT) "
                         "FROM users WHERE id = $8 AND organization_id = $9",
                         {row.id, row.name, role_name(role), to_hex(hash), row.created_at, limits.requests_per_second,
                          limits.runs_at_once, row.user, row.organization}));
  if (done.affected == 0) return fail_not_found("User", owner.user);
  return Made{std::move(row), std::move(key)};
}

Result<std::optional<ApiKeyRow>> ApiKeyTable::find(const Secret& key) {
  const std::string_view text = key.reveal();
  const bool ours = text.size() == kKeySize && text.starts_with(kKeyPrefix);
  const bool old = text.size() == kOldSize && text.starts_with(kOldPrefix);
  if (!ours && !old) return std::nullopt;
  BJ_TRY(const std::string hash, sha256(text));
  static const std::string kSql =
      std::string("SELECT ") + kKeyColumns + " FROM api_keys WHERE key_hash = $1 AND revoked_at IS NULL";
  BJ_TRY(const Rows rows, database_.read(kSql, {to_hex(hash)}));
  if (rows.rows.empty()) return std::nullopt;
  return api_key_of(rows.rows[0]);
}

Result<std::vector<ApiKeyRow>> ApiKeyTable::list(const std::string& organization) {
  BJ_TRY(const Rows rows, database_.read(std::string("SELECT ") + kKeyColumns +
                                             " FROM api_keys WHERE organization_id = $1 ORDER BY created_at, id",
                                         {organization}));
  std::vector<ApiKeyRow> list;
  for (const Row& row : rows.rows) {
    BJ_TRY(ApiKeyRow key, api_key_of(row));
    list.push_back(std::move(key));
  }
  return list;
}

Result<ApiKeyRow> ApiKeyTable::revoke(const std::string& organization, const std::string& id) {
  BJ_TRY(Rows rows, database_.write(std::string("UPDATE api_keys SET revoked_at = COALESCE(revoked_at, $1) "
                                                "WHERE id = $2 AND organization_id = $3 RETURNING ") +
                                        kKeyColumns,
                                    {now_us(), id, organization}));
  BJ_TRY(const Row row, only_row(std::move(rows), "Key", id));
  return api_key_of(row);
}

Result<void> ApiKeyTable::touch(const ApiKeyRow& key) {
  const int64_t now = now_us();
  if (key.last_used_at && *key.last_used_at >= now - kTouchEvery_us) return {};
  BJ_CHECK(database_.write(
      "UPDATE api_keys SET last_used_at = $1 WHERE id = $2 AND (last_used_at IS NULL OR last_used_at < $3)",
      {now, key.id, now - kTouchEvery_us}));
  return {};
}

}  // namespace bj
