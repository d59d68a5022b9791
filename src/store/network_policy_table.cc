#include "store/network_policy_table.h"

#include "store/sql.h"

namespace bj {
namespace {

NetworkPolicyRow policy_of(const Row& row) { return {row.text(0), row.text(1), row.integer(2), row.maybe_text(3)}; }

}  // namespace

Result<std::optional<NetworkPolicyRow>> NetworkPolicyTable::find(const std::string& organization) {
  BJ_TRY(const Rows rows,
         database_.read("SELECT organization_id, policy, updated_at, last_updated_by_id FROM network_policies "
                        "WHERE organization_id = $1",
                        {organization}));
  if (rows.rows.empty()) return std::nullopt;
  return policy_of(rows.rows[0]);
}

Result<NetworkPolicyRow> NetworkPolicyTable::put(const Actor& actor, const std::string& policy) {
  NetworkPolicyRow row{actor.organization, policy, now_us(), actor.user};
  BJ_CHECK(
      database_.write("INSERT INTO network_policies (organization_id, policy, updated_at, last_updated_by_id) "
                      "VALUES ($1, $2, $3, $4) ON CONFLICT (organization_id) DO UPDATE SET policy = excluded.policy, "
                      "updated_at = excluded.updated_at, last_updated_by_id = excluded.last_updated_by_id",
                      {row.organization, row.policy, row.updated_at, row.updated_by}));
  return row;
}

Result<void> NetworkPolicyTable::remove(const std::string& organization) {
  BJ_TRY(const Rows done, database_.write("DELETE FROM network_policies WHERE organization_id = $1", {organization}));
  if (done.affected == 0) return fail(Code::kNotFound, "the organization has no network policy of its own");
  return {};
}

Result<std::map<std::string, std::string>> NetworkPolicyTable::stamps() {
  BJ_TRY(const Rows policies, database_.read("SELECT organization_id, updated_at FROM network_policies"));
  BJ_TRY(const Rows credentials,
         database_.read("SELECT organization_id, COUNT(*), MAX(updated_at) FROM credentials GROUP BY organization_id"));
  std::map<std::string, std::string> stamps;
  for (const Row& row : policies.rows) stamps[row.text(0)] += "policy " + std::to_string(row.integer(1));
  for (const Row& row : credentials.rows)
    stamps[row.text(0)] += " credentials " + std::to_string(row.integer(1)) + " " + std::to_string(row.integer(2));
  return stamps;
}

}  // namespace bj
