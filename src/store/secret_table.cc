#include "store/secret_table.h"

#include "base/compact_id.h"
#include "store/sql.h"

namespace bj {
namespace {

#define SECRET_COLUMNS \
  "id, organization_id, name, version, metadata, created_at, updated_at, created_by_id, last_updated_by_id"

constexpr char kModel[] = "Secret";
// An id comes first: a name can't take another secret's place.
constexpr char kOne[] = "SELECT " SECRET_COLUMNS
                        " FROM secrets WHERE organization_id = $1 AND (id = $2 OR name = $2) "
                        "ORDER BY CASE WHEN id = $2 THEN 0 ELSE 1 END LIMIT 1";

SecretRow secret_of(const Row& row) {
  return {row.text(0),    row.text(1), row.text(2),
          row.integer(3), row.text(4), {row.integer(5), row.integer(6), row.maybe_text(7), row.maybe_text(8)}};
}

Place place_of(const std::string& id) { return {kSecretTable, id, "value_enc"}; }

Result<SecretRow> one_of(Rows rows, const std::string& reference) {
  BJ_TRY(const Row row, only_row(std::move(rows), kModel, reference));
  return secret_of(row);
}

}  // namespace

Result<SecretRow> SecretTable::create(const Actor& actor, const std::string& name, const std::string& metadata,
                                      const Secret& value) {
  const int64_t now = now_us();
  SecretRow row{new_compact_id("sec"),
                actor.organization,
                name,
                1,
                metadata,
                {now, now, MaybeText(actor.user), MaybeText(actor.user)}};
  const Result<void> made = database_.transact([&](Transaction& transaction) -> Result<void> {
    BJ_TRY(const std::string key_id, vault_.write_key(transaction));
    BJ_TRY(const std::string encrypted, vault_.encrypt(key_id, value, place_of(row.id)));
    BJ_CHECK(transaction.run(
        "INSERT INTO secrets (" SECRET_COLUMNS ", value_enc) VALUES ($1, $2, $3, $4, $5, $6, $6, $7, $7, $8)",
        {row.id, row.organization, row.name, row.version, row.metadata, now, actor.user, encrypted}));
    return {};
  });
  if (!made && made.error().code == Code::kConflict)
    return fail(Code::kConflict, "there is a secret \"" + name + "\" already");
  if (!made) return tl::unexpected(made.error());
  return row;
}

Result<SecretRow> SecretTable::update(const Actor& actor, const std::string& reference,
                                      const std::optional<std::string>& metadata, const Secret& value) {
  return database_.transact_value<SecretRow>([&](Transaction& transaction) -> Result<SecretRow> {
    BJ_TRY(Rows rows, transaction.run(kOne + std::string(for_update(transaction)), {actor.organization, reference}));
    BJ_TRY(SecretRow row, one_of(std::move(rows), reference));
    BJ_TRY(const std::string key_id, vault_.write_key(transaction));
    BJ_TRY(const std::string encrypted, vault_.encrypt(key_id, value, place_of(row.id)));
    row.version += 1;
    if (metadata) row.metadata = *metadata;
    row.stamp.updated_at = now_us();
    row.stamp.updated_by = actor.user;
    BJ_CHECK(transaction.run(
        "UPDATE secrets SET version = $1, metadata = $2, updated_at = $3, last_updated_by_id = $4, value_enc = $5 "
        "WHERE id = $6",
        {row.version, row.metadata, row.stamp.updated_at, row.stamp.updated_by, encrypted, row.id}));
    return row;
  });
}

Result<SecretRow> SecretTable::get(const std::string& organization, const std::string& reference) {
  BJ_TRY(Rows rows, database_.read(kOne, {organization, reference}));
  return one_of(std::move(rows), reference);
}

Result<std::vector<SecretRow>> SecretTable::list(const std::string& organization, const Page& page) {
  Sql sql("SELECT " SECRET_COLUMNS " FROM secrets WHERE organization_id = ");
  sql.bind(organization);
  BJ_TRY(const std::vector<Row> rows, read_page(database_, std::move(sql), {kModel, kSecretTable}, organization, page));
  std::vector<SecretRow> secrets;
  for (const Row& row : rows) secrets.push_back(secret_of(row));
  return secrets;
}

Result<SecretRow> SecretTable::remove(const std::string& organization, const std::string& reference) {
  return database_.transact_value<SecretRow>([&](Transaction& transaction) -> Result<SecretRow> {
    BJ_TRY(Rows rows, transaction.run(kOne + std::string(for_update(transaction)), {organization, reference}));
    BJ_TRY(SecretRow row, one_of(std::move(rows), reference));
    BJ_CHECK(transaction.run("DELETE FROM secrets WHERE id = $1", {row.id}));
    return row;
  });
}

Result<std::map<std::string, Secret>> SecretTable::values(const std::string& organization,
                                                          const std::vector<std::string>& names) {
  std::map<std::string, Secret> found;
  if (names.empty()) return found;
  Sql sql("SELECT id, name, value_enc FROM secrets WHERE organization_id = ");
  sql.bind(organization).add(" AND name IN ").bind_list(names);
  BJ_TRY(const Rows rows, database_.read(sql.text(), sql.params()));
  for (const Row& row : rows.rows) {
    BJ_TRY(Secret value, vault_.decrypt(row.text(2), place_of(row.text(0))));
    found.emplace(row.text(1), std::move(value));
  }
  return found;
}

}  // namespace bj
