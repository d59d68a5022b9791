#include "store/volume_table.h"

#include <fmt/format.h>

#include "store/organization_lock.h"
#include "store/quota.h"
#include "store/sql.h"

namespace bj {
namespace {

#define VOLUME_COLUMNS "id, organization_id, name, size_bytes, machine, state, created_by_id, created_at"

constexpr char kModel[] = "Volume";

VolumeRow volume_of(const Row& row) {
  return {row.text(0), row.text(1), row.text(2),       row.integer(3),
          row.text(4), row.text(5), row.maybe_text(6), row.integer(7)};
}

Result<VolumeRow> one_of(Rows rows, const std::string& id) {
  BJ_TRY(const Row row, only_row(std::move(rows), kModel, id));
  return volume_of(row);
}

Result<void> check_share(Transaction& transaction, const VolumeRow& row, const VolumeShare& quota) {
  BJ_TRY(const Rows rows, transaction.run("SELECT COUNT(*), CAST(COALESCE(SUM(size_bytes), 0) AS BIGINT) FROM volumes "
                                          "WHERE organization_id = $1",
                                          {row.organization}));
  if (quota.count != 0 && rows.rows[0].integer(0) + 1 > quota.count)
    return fail(Code::kExhausted,
                fmt::format("this organization may have {} volumes, and has them: remove one", quota.count),
                kOverQuota);
  if (quota.bytes != 0 && row.size_bytes > quota.bytes)
    return fail(Code::kUnprocessable,
                fmt::format("this organization's volumes may have {} MiB together, and this one alone asks for more",
                            quota.bytes >> 20));
  if (quota.bytes != 0 && rows.rows[0].integer(1) + row.size_bytes > quota.bytes)
    return fail(Code::kExhausted,
                fmt::format("this organization's volumes may have {} MiB together, and this one would "
                            "be beyond it: remove one, or ask for less",
                            quota.bytes >> 20),
                kOverQuota);
  return {};
}

}  // namespace

Result<void> VolumeTable::create(const VolumeRow& row, const VolumeShare& quota) {
  Result<void> made = database_.transact([&](Transaction& transaction) -> Result<void> {
    BJ_CHECK(lock_organization(transaction, row.organization));
    BJ_CHECK(check_share(transaction, row, quota));
    BJ_CHECK(transaction.run(
        "INSERT INTO volumes (" VOLUME_COLUMNS ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        {row.id, row.organization, row.name, row.size_bytes, row.machine, row.state, row.created_by, row.created_at}));
    return {};
  });
  if (!made && made.error().code == Code::kConflict)
    return fail(Code::kConflict, "there is a volume \"" + row.name + "\" already");
  return made;
}

Result<void> VolumeTable::set_ready(const std::string& id) {
  BJ_CHECK(database_.write("UPDATE volumes SET state = 'ready' WHERE id = $1", {id}));
  return {};
}

Result<VolumeRow> VolumeTable::get(const std::string& organization, const std::string& id) {
  BJ_TRY(Rows rows, database_.read("SELECT " VOLUME_COLUMNS
                                   " FROM volumes WHERE id = $1 AND organization_id = $2 AND state = 'ready'",
                                   {id, organization}));
  return one_of(std::move(rows), id);
}

Result<VolumeRow> VolumeTable::find(const std::string& organization, const std::string& name) {
  BJ_TRY(Rows rows, database_.read("SELECT " VOLUME_COLUMNS
                                   " FROM volumes WHERE name = $1 AND organization_id = $2 AND state = 'ready'",
                                   {name, organization}));
  if (rows.rows.empty()) return fail(Code::kNotFound, "there is no volume \"" + name + "\"");
  return volume_of(rows.rows[0]);
}

Result<std::vector<VolumeRow>> VolumeTable::list(const std::string& organization, const Page& page) {
  Sql sql("SELECT " VOLUME_COLUMNS " FROM volumes WHERE state = 'ready' AND organization_id = ");
  sql.bind(organization);
  BJ_TRY(const std::vector<Row> rows, read_page(database_, std::move(sql), {kModel, "volumes"}, organization, page));
  std::vector<VolumeRow> volumes;
  for (const Row& row : rows) volumes.push_back(volume_of(row));
  return volumes;
}

Result<VolumeRow> VolumeTable::begin_removal(const std::string& organization, const std::string& id) {
  return database_.transact_value<VolumeRow>([&](Transaction& transaction) -> Result<VolumeRow> {
    BJ_CHECK(lock_organization(transaction, organization));
    BJ_TRY(Rows rows, transaction.run("SELECT " VOLUME_COLUMNS
                                      " FROM volumes WHERE id = $1 AND organization_id = $2 AND state = 'ready'",
                                      {id, organization}));
    BJ_TRY(VolumeRow row, one_of(std::move(rows), id));
    BJ_TRY(
        const Rows users,
        transaction.run("SELECT COUNT(*) FROM sandboxes WHERE organization_id = $1 AND options LIKE $2 AND (state IN "
                        "('creating', 'running', 'paused', 'stopping') OR (state = 'stopped' AND kept = 1))",
                        {organization, "%\"" + id + "\"%"}));
    if (const int64_t count = users.rows[0].integer(0); count != 0)
      return fail(Code::kConflict, fmt::format("the volume is in use by {} sandbox{}: end {} first", count,
                                               count == 1 ? "" : "es", count == 1 ? "it" : "them"));
    BJ_CHECK(transaction.run("UPDATE volumes SET state = 'removing' WHERE id = $1", {id}));
    return row;
  });
}

Result<void> VolumeTable::forget(const std::string& id) {
  BJ_CHECK(database_.write("DELETE FROM volumes WHERE id = $1", {id}));
  return {};
}

Result<std::vector<VolumeRow>> VolumeTable::unfinished(const std::string& machine) {
  BJ_TRY(const Rows rows,
         database_.read("SELECT " VOLUME_COLUMNS " FROM volumes WHERE machine = $1 AND state <> 'ready'", {machine}));
  std::vector<VolumeRow> volumes;
  for (const Row& row : rows.rows) volumes.push_back(volume_of(row));
  return volumes;
}

Result<void> check_volumes_exist(Transaction& transaction, const std::string& organization,
                                 const std::vector<std::string>& ids) {
  for (const std::string& id : ids) {
    BJ_TRY(const Rows rows,
           transaction.run("SELECT id FROM volumes WHERE id = $1 AND organization_id = $2 AND state = 'ready'" +
                               std::string(for_update(transaction)),
                           {id, organization}));
    if (rows.rows.empty()) return fail(Code::kDangling, "a volume was removed meanwhile");
  }
  return {};
}

}  // namespace bj
