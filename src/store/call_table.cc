#include "store/call_table.h"

#include "base/id.h"
#include "store/sql.h"

namespace bj {
namespace {

#define CALL_COLUMNS                                                                                        \
  "id, organization_id, user_id, tool_id, tool_name, agent_id, status, provider, fingerprint, limits_hit, " \
  "started_at, duration_us"

CallRow call_of(const Row& row) {
  CallRow call;
  call.id = row.text(0);
  call.organization = row.text(1);
  call.user = row.maybe_text(2);
  call.tool_id = row.maybe_text(3);
  call.tool_name = row.text(4);
  call.agent_id = row.maybe_text(5);
  call.status = row.text(6);
  call.provider = row.text(7);
  call.fingerprint = row.maybe_text(8);
  call.limits_hit = row.text(9);
  call.started_at = row.integer(10);
  call.duration_us = row.integer(11);
  return call;
}

Result<void> insert(Transaction& transaction, const CallRow& call) {
  BJ_CHECK(
      transaction.run("INSERT INTO calls (" CALL_COLUMNS ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
                      {call.id, call.organization, call.user, call.tool_id, call.tool_name, call.agent_id, call.status,
                       call.provider, call.fingerprint, call.limits_hit, call.started_at, call.duration_us}));
  return {};
}

}  // namespace

Result<void> CallTable::insert_many(std::vector<CallRow> calls) {
  if (calls.empty()) return {};
  for (CallRow& call : calls)
    if (call.id.empty()) call.id = new_id("call");
  return database_.transact([&](Transaction& transaction) -> Result<void> {
    for (const CallRow& call : calls) BJ_CHECK(insert(transaction, call));
    return {};
  });
}

Result<CallRow> CallTable::get(const std::string& organization, const std::string& id) {
  BJ_TRY(Rows rows, database_.read("SELECT " CALL_COLUMNS " FROM calls WHERE id = $1 AND organization_id = $2",
                                   {id, organization}));
  BJ_TRY(const Row row, only_row(std::move(rows), "Call", id));
  return call_of(row);
}

Result<std::vector<CallRow>> CallTable::list(const std::string& organization, const CallFilter& filter,
                                             const Page& page) {
  Sql sql("SELECT " CALL_COLUMNS " FROM calls WHERE organization_id = ");
  sql.bind(organization);
  if (filter.tool) sql.add(" AND (tool_id = ").bind(*filter.tool).add(" OR tool_name = ").bind(*filter.tool).add(")");
  if (filter.agent) sql.add(" AND agent_id = ").bind(*filter.agent);
  if (filter.status) sql.add(" AND status = ").bind(*filter.status);
  if (filter.since) sql.add(" AND started_at >= ").bind(*filter.since);
  BJ_TRY(const std::vector<Row> rows,
         read_page(database_, std::move(sql), {"Call", "calls", "started_at"}, organization, page));
  std::vector<CallRow> calls;
  calls.reserve(rows.size());
  for (const Row& row : rows) calls.push_back(call_of(row));
  return calls;
}

Result<int64_t> CallTable::remove_older_than(int64_t started_at) {
  BJ_TRY(const Rows rows, database_.write("DELETE FROM calls WHERE started_at < $1", {started_at}));
  return rows.affected;
}

}  // namespace bj
