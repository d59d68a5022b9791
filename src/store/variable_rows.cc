#include "store/variable_rows.h"

#include "base/id.h"
#include "store/sql.h"

namespace bj {
namespace {

constexpr std::string_view kColumn = "value_enc";

// An empty value needs no ciphertext.
Result<MaybeText> encrypted(Vault& vault, const VariableKind& kind, const std::string& key_id, const std::string& row,
                            const Secret& value) {
  if (value.empty()) return MaybeText();
  BJ_TRY(std::string text, vault.encrypt(key_id, value, {kind.table, row, kColumn}));
  return MaybeText(std::move(text));
}

}  // namespace

std::string variable_columns(const VariableKind& kind) {
  return "id, organization_id, " + std::string(kind.owner_column) +
         ", key, value, value_enc, description, created_at, updated_at, created_by_id, last_updated_by_id";
}

Result<VariableRow> variable_of(const Row& row, Vault& vault, const VariableKind& kind) {
  VariableRow variable;
  variable.id = row.text(0);
  variable.organization = row.text(1);
  variable.owner = row.text(2);
  variable.key = row.text(3);
  variable.value_enc = row.maybe_text(5);
  if (variable.value_enc) {
    BJ_TRY(variable.value, vault.decrypt(*variable.value_enc, {kind.table, variable.id, kColumn}));
  } else {
    variable.value = Secret(row.text(4));
  }
  variable.description = row.maybe_text(6);
  variable.stamp = {row.integer(7), row.integer(8), row.maybe_text(9), row.maybe_text(10)};
  return variable;
}

Result<std::vector<VariableRow>> variables_of(const std::vector<Row>& rows, Vault& vault, const VariableKind& kind) {
  std::vector<VariableRow> variables;
  variables.reserve(rows.size());
  for (const Row& row : rows) {
    BJ_TRY(VariableRow variable, variable_of(row, vault, kind));
    variables.push_back(std::move(variable));
  }
  return variables;
}

Result<VariableRow> insert_variable(Transaction& transaction, Vault& vault, const VariableKind& kind,
                                    const std::string& key_id, const Actor& actor, const std::string& owner,
                                    const NewVariable& variable) {
  VariableRow row;
  row.id = new_id(kind.id_prefix);
  row.organization = actor.organization;
  row.owner = owner;
  row.key = variable.key;
  row.value = variable.value.copy();
  BJ_TRY(row.value_enc, encrypted(vault, kind, key_id, row.id, variable.value));
  row.description = variable.description;
  const int64_t now = now_us();
  row.stamp = {now, now, actor.user, actor.user};
  BJ_CHECK(
      transaction.run("INSERT INTO " + std::string(kind.table) + " (" + variable_columns(kind) +
                          ") VALUES ($1, $2, $3, $4, '', $5, $6, $7, $7, $8, $8)",
                      {row.id, row.organization, row.owner, row.key, row.value_enc, row.description, now, actor.user}));
  return row;
}

Result<VariableRow> update_variable(Transaction& transaction, Vault& vault, const VariableKind& kind,
                                    const std::string& key_id, const Actor& actor, VariableRow current,
                                    const VariableChange& change) {
  const bool other_value = change.value && !change.value->same_as(current.value);
  const bool other_key = change.key && *change.key != current.key;
  const bool other_description = change.description && change.description != current.description;
  if (!other_value && !other_key && !other_description) return current;
  if (other_value) current.value = change.value->copy();
  // A clear value of old is encrypted by any change.
  if (other_value || !current.value_enc) {
    BJ_TRY(current.value_enc, encrypted(vault, kind, key_id, current.id, current.value));
  }
  if (other_key) current.key = *change.key;
  if (other_description) current.description = change.description;
  current.stamp.updated_at = now_us();
  current.stamp.updated_by = actor.user;
  BJ_CHECK(transaction.run(
      "UPDATE " + std::string(kind.table) +
          " SET key = $1, value = '', value_enc = $2, description = $3, updated_at = $4, "
          "last_updated_by_id = $5 WHERE id = $6",
      {current.key, current.value_enc, current.description, current.stamp.updated_at, actor.user, current.id}));
  return current;
}

}  // namespace bj
