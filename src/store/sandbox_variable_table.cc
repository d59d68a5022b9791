#include "store/sandbox_variable_table.h"

#include "store/sql.h"
#include "store/variable_rows.h"

namespace bj {
namespace {

constexpr const VariableKind& kKind = kSandboxVariables;

std::string select_where(std::string_view condition) {
  return "SELECT " + variable_columns(kKind) + " FROM " + std::string(kKind.table) + " WHERE " + std::string(condition);
}

const std::string& by_id() {
  static const std::string sql = select_where("id = $1 AND organization_id = $2");
  return sql;
}
const std::string& by_key() {
  static const std::string sql = select_where("organization_id = $1 AND sandbox_config_id = $2 AND key = $3");
  return sql;
}

// Says `what` where the database would name columns.
Result<VariableRow> in_words(Result<VariableRow> stored, Code code, std::string what) {
  if (!stored && stored.error().code == code) return fail(code, std::move(what));
  return stored;
}

}  // namespace

Result<VariableRow> SandboxVariableTable::upsert(const Actor& actor, const std::string& config,
                                                 const NewVariable& variable) {
  auto stored = database_.transact_value<VariableRow>([&](Transaction& transaction) -> Result<VariableRow> {
    BJ_TRY(const std::string key_id, vault_.write_key(transaction));
    BJ_TRY(const Rows rows, transaction.run(by_key(), {actor.organization, config, variable.key}));
    if (rows.rows.empty()) return insert_variable(transaction, vault_, kKind, key_id, actor, config, variable);
    BJ_TRY(VariableRow current, variable_of(rows.rows[0], vault_, kKind));
    const VariableChange change{{}, variable.value.copy(), variable.description};
    return update_variable(transaction, vault_, kKind, key_id, actor, std::move(current), change);
  });
  return in_words(std::move(stored), Code::kDangling, "there is no sandbox configuration " + config);
}

Result<VariableRow> SandboxVariableTable::change(const Actor& actor, const std::string& id,
                                                 const VariableChange& change) {
  auto stored = database_.transact_value<VariableRow>([&](Transaction& transaction) -> Result<VariableRow> {
    BJ_TRY(const std::string key_id, vault_.write_key(transaction));
    BJ_TRY(Rows rows, transaction.run(by_id(), {id, actor.organization}));
    BJ_TRY(const Row row, only_row(std::move(rows), kKind.model, id));
    BJ_TRY(VariableRow current, variable_of(row, vault_, kKind));
    return update_variable(transaction, vault_, kKind, key_id, actor, std::move(current), change);
  });
  return in_words(std::move(stored), Code::kConflict, "its sandbox configuration has another variable of that key");
}

Result<VariableRow> SandboxVariableTable::remove(const std::string& organization, const std::string& id) {
  BJ_TRY(Rows rows,
         database_.write("DELETE FROM sandbox_environment_variables WHERE id = $1 AND organization_id = $2 RETURNING " +
                             variable_columns(kKind),
                         {id, organization}));
  BJ_TRY(const Row row, only_row(std::move(rows), kKind.model, id));
  return variable_of(row, vault_, kKind);
}

Result<VariableRow> SandboxVariableTable::get(const std::string& organization, const std::string& id) {
  BJ_TRY(Rows rows, database_.read(by_id(), {id, organization}));
  BJ_TRY(const Row row, only_row(std::move(rows), kKind.model, id));
  return variable_of(row, vault_, kKind);
}

Result<std::optional<VariableRow>> SandboxVariableTable::find(const std::string& organization,
                                                              const std::string& config, const std::string& key) {
  BJ_TRY(const Rows rows, database_.read(by_key(), {organization, config, key}));
  if (rows.rows.empty()) return std::nullopt;
  BJ_TRY(VariableRow variable, variable_of(rows.rows[0], vault_, kKind));
  return std::optional<VariableRow>(std::move(variable));
}

Result<std::vector<VariableRow>> SandboxVariableTable::list(const std::string& organization, const std::string& config,
                                                            const Page& page) {
  Sql sql(select_where("organization_id = "));
  sql.bind(organization).add(" AND sandbox_config_id = ").bind(config);
  BJ_TRY(const auto rows, read_page(database_, std::move(sql), {kKind.model, kKind.table}, organization, page));
  return variables_of(rows, vault_, kKind);
}

Result<std::vector<VariableRow>> SandboxVariableTable::list_by_key(const std::string& organization,
                                                                   const std::string& key, const Page& page) {
  Sql sql(select_where("organization_id = "));
  sql.bind(organization).add(" AND key = ").bind(key);
  BJ_TRY(const auto rows, read_page(database_, std::move(sql), {kKind.model, kKind.table}, organization, page));
  return variables_of(rows, vault_, kKind);
}

}  // namespace bj
