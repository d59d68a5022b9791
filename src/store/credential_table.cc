#include "store/credential_table.h"

#include "base/id.h"
#include "store/sql.h"

namespace bj {
namespace {

#define CREDENTIAL_COLUMNS \
  "id, organization_id, name, binding, created_at, updated_at, created_by_id, last_updated_by_id"

constexpr char kModel[] = "Credential";
constexpr char kByName[] = "SELECT " CREDENTIAL_COLUMNS " FROM credentials WHERE organization_id = $1 AND name = $2";

CredentialRow credential_of(const Row& row) {
  return {row.text(0),
          row.text(1),
          row.text(2),
          row.text(3),
          {row.integer(4), row.integer(5), row.maybe_text(6), row.maybe_text(7)}};
}

Place place_of(const std::string& id) { return {kCredentialTable, id, "value_enc"}; }

Result<CredentialRow> insert(Transaction& transaction, Vault& vault, const Actor& actor, const std::string& name,
                             const std::string& binding, const Secret& value) {
  const int64_t now = now_us();
  CredentialRow row{new_id("credential"),
                    actor.organization,
                    name,
                    binding,
                    {now, now, MaybeText(actor.user), MaybeText(actor.user)}};
  BJ_TRY(const std::string key_id, vault.write_key(transaction));
  BJ_TRY(const std::string encrypted, vault.encrypt(key_id, value, place_of(row.id)));
  BJ_CHECK(transaction.run("INSERT INTO credentials (" CREDENTIAL_COLUMNS
                           ", value_enc) VALUES ($1, $2, $3, $4, $5, $5, $6, $6, $7)",
                           {row.id, row.organization, row.name, row.binding, now, actor.user, encrypted}));
  return row;
}

Result<CredentialRow> update(Transaction& transaction, Vault& vault, const Actor& actor, CredentialRow row,
                             const std::string& binding, const std::optional<Secret>& value) {
  row.binding = binding;
  row.stamp.updated_at = now_us();
  row.stamp.updated_by = actor.user;
  BJ_CHECK(
      transaction.run("UPDATE credentials SET binding = $1, updated_at = $2, last_updated_by_id = $3 WHERE id = $4",
                      {row.binding, row.stamp.updated_at, row.stamp.updated_by, row.id}));
  if (!value) return row;
  BJ_TRY(const std::string key_id, vault.write_key(transaction));
  BJ_TRY(const std::string encrypted, vault.encrypt(key_id, *value, place_of(row.id)));
  BJ_CHECK(transaction.run("UPDATE credentials SET value_enc = $1 WHERE id = $2", {encrypted, row.id}));
  return row;
}

}  // namespace

Result<CredentialRow> CredentialTable::create(const Actor& actor, const std::string& name, const std::string& binding,
                                              const Secret& value) {
  Result<CredentialRow> made = database_.transact_value<CredentialRow>(
      [&](Transaction& transaction) { return insert(transaction, vault_, actor, name, binding, value); });
  if (!made && made.error().code == Code::kConflict)
    return fail(Code::kConflict, "there is a credential \"" + name + "\" already");
  return made;
}

Result<CredentialRow> CredentialTable::put(const Actor& actor, const std::string& name, const std::string& binding,
                                           const std::optional<Secret>& value) {
  return database_.transact_value<CredentialRow>([&](Transaction& transaction) -> Result<CredentialRow> {
    BJ_TRY(const Rows rows,
           transaction.run(kByName + std::string(for_update(transaction)), {actor.organization, name}));
    if (!rows.rows.empty()) return update(transaction, vault_, actor, credential_of(rows.rows[0]), binding, value);
    if (!value) return fail_not_found(kModel, name);
    return insert(transaction, vault_, actor, name, binding, *value);
  });
}

Result<CredentialRow> CredentialTable::get(const std::string& organization, const std::string& name) {
  BJ_TRY(Rows rows, database_.read(kByName, {organization, name}));
  BJ_TRY(const Row row, only_row(std::move(rows), kModel, name));
  return credential_of(row);
}

Result<std::vector<CredentialRow>> CredentialTable::list(const std::string& organization) {
  BJ_TRY(const Rows rows,
         database_.read("SELECT " CREDENTIAL_COLUMNS " FROM credentials WHERE organization_id = $1 ORDER BY name",
                        {organization}));
  std::vector<CredentialRow> list;
  for (const Row& row : rows.rows) list.push_back(credential_of(row));
  return list;
}

Result<std::vector<CredentialWithValue>> CredentialTable::find(const std::string& organization,
                                                               const std::vector<std::string>& names) {
  std::vector<CredentialWithValue> found;
  if (names.empty()) return found;
  Sql sql("SELECT " CREDENTIAL_COLUMNS ", value_enc FROM credentials WHERE organization_id = ");
  sql.bind(organization).add(" AND name IN ").bind_list(names).add(" ORDER BY name");
  BJ_TRY(const Rows rows, database_.read(sql.text(), sql.params()));
  for (const Row& row : rows.rows) {
    CredentialWithValue one{credential_of(row), {}};
    BJ_TRY(one.value, vault_.decrypt(row.text(8), place_of(one.row.id)));
    found.push_back(std::move(one));
  }
  return found;
}

Result<CredentialRow> CredentialTable::remove(const std::string& organization, const std::string& name) {
  BJ_TRY(Rows rows, database_.write("DELETE FROM credentials WHERE organization_id = $1 AND name = $2 "
                                    "RETURNING " CREDENTIAL_COLUMNS,
                                    {organization, name}));
  BJ_TRY(const Row row, only_row(std::move(rows), kModel, name));
  return credential_of(row);
}

}  // namespace bj
