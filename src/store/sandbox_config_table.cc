#include "store/sandbox_config_table.h"

#include "base/id.h"
#include "store/sql.h"

namespace bj {
namespace {

#define CONFIG_COLUMNS "id, organization_id, type, config, created_at, updated_at, created_by_id, last_updated_by_id"

constexpr char kInsert[] =
    "INSERT INTO sandbox_configs (" CONFIG_COLUMNS
    ") VALUES ($1, $2, $3, $4, $5, $5, $6, $6) ON CONFLICT (type, organization_id) DO NOTHING RETURNING " CONFIG_COLUMNS;
constexpr char kByType[] = "SELECT " CONFIG_COLUMNS " FROM sandbox_configs WHERE organization_id = $1 AND type = $2";
constexpr char kById[] = "SELECT " CONFIG_COLUMNS " FROM sandbox_configs WHERE id = $1 AND organization_id = $2";
constexpr char kUpdate[] =
    "UPDATE sandbox_configs SET config = $1, updated_at = $2, last_updated_by_id = $3 WHERE id = $4 "
    "RETURNING " CONFIG_COLUMNS;

SandboxConfigRow config_of(const Row& row) {
  return {row.text(0),
          row.text(1),
          row.text(2),
          row.text(3),
          {row.integer(4), row.integer(5), row.maybe_text(6), row.maybe_text(7)}};
}

Result<SandboxConfigRow> write_config(Transaction& transaction, const Actor& actor, SandboxConfigRow current,
                                      const std::string& config) {
  if (current.config == config) return current;
  BJ_TRY(const Rows rows, transaction.run(kUpdate, {config, now_us(), actor.user, current.id}));
  return config_of(rows.rows.at(0));
}

}  // namespace

Result<std::optional<SandboxConfigRow>> SandboxConfigTable::find(const std::string& organization,
                                                                 const std::string& type) {
  BJ_TRY(const Rows rows, database_.read(kByType, {organization, type}));
  if (rows.rows.empty()) return std::nullopt;
  return config_of(rows.rows[0]);
}

Result<SandboxConfigRow> SandboxConfigTable::find_or_create(const Actor& actor, const std::string& type,
                                                            const std::string& config) {
  BJ_TRY(auto found, find(actor.organization, type));
  if (found) return std::move(*found);
  return database_.transact_value<SandboxConfigRow>([&](Transaction& transaction) -> Result<SandboxConfigRow> {
    BJ_TRY(Rows rows,
           transaction.run(kInsert, {new_id("sandbox"), actor.organization, type, config, now_us(), actor.user}));
    if (rows.rows.empty()) {
      BJ_TRY(rows, transaction.run(kByType, {actor.organization, type}));
    }
    BJ_TRY(const Row row, only_row(std::move(rows), "SandboxConfig", type));
    return config_of(row);
  });
}

Result<SandboxConfigRow> SandboxConfigTable::upsert(const Actor& actor, const std::string& type,
                                                    const std::string& config) {
  return database_.transact_value<SandboxConfigRow>([&](Transaction& transaction) -> Result<SandboxConfigRow> {
    const std::string id = new_id("sandbox");
    BJ_TRY(const Rows made, transaction.run(kInsert, {id, actor.organization, type, config, now_us(), actor.user}));
    if (!made.rows.empty()) return config_of(made.rows[0]);
    BJ_TRY(Rows rows, transaction.run(kByType + std::string(for_update(transaction)), {actor.organization, type}));
    BJ_TRY(const Row row, only_row(std::move(rows), "SandboxConfig", type));
    return write_config(transaction, actor, config_of(row), config);
  });
}

Result<SandboxConfigRow> SandboxConfigTable::get(const std::string& organization, const std::string& id) {
  BJ_TRY(Rows rows, database_.read(kById, {id, organization}));
  BJ_TRY(const Row row, only_row(std::move(rows), "SandboxConfig", id));
  return config_of(row);
}

Result<SandboxConfigRow> SandboxConfigTable::change(const Actor& actor, const std::string& id,
                                                    const std::function<Result<void>(SandboxConfigRow&)>& edit) {
  return database_.transact_value<SandboxConfigRow>([&](Transaction& transaction) -> Result<SandboxConfigRow> {
    BJ_TRY(Rows rows, transaction.run(kById + std::string(for_update(transaction)), {id, actor.organization}));
    BJ_TRY(const Row row, only_row(std::move(rows), "SandboxConfig", id));
    SandboxConfigRow edited = config_of(row);
    BJ_CHECK(edit(edited));
    return write_config(transaction, actor, config_of(row), edited.config);
  });
}

Result<SandboxConfigRow> SandboxConfigTable::remove(const std::string& organization, const std::string& id) {
  BJ_TRY(Rows rows, database_.write("DELETE FROM sandbox_configs WHERE id = $1 AND organization_id = $2 "
                                    "RETURNING " CONFIG_COLUMNS,
                                    {id, organization}));
  BJ_TRY(const Row row, only_row(std::move(rows), "SandboxConfig", id));
  return config_of(row);
}

Result<std::vector<SandboxConfigRow>> SandboxConfigTable::list(const std::string& organization, const Page& page,
                                                               const MaybeText& type) {
  Sql sql("SELECT " CONFIG_COLUMNS " FROM sandbox_configs WHERE organization_id = ");
  sql.bind(organization);
  if (type) sql.add(" AND type = ").bind(*type);
  BJ_TRY(const std::vector<Row> rows,
         read_page(database_, std::move(sql), {"SandboxConfig", "sandbox_configs"}, organization, page));
  std::vector<SandboxConfigRow> list;
  for (const Row& row : rows) list.push_back(config_of(row));
  return list;
}

}  // namespace bj
