#include "store/layer_table.h"

#include <fmt/format.h>

#include "store/quota.h"
#include "store/sql.h"

namespace bj {
namespace {

constexpr const char* kStored =
    "SELECT CAST(COALESCE(SUM(size_bytes), 0) AS BIGINT) FROM layers WHERE organization_id = $1";

std::vector<std::string> texts_of(const Rows& rows) {
  std::vector<std::string> texts;
  texts.reserve(rows.rows.size());
  for (const Row& row : rows.rows) texts.push_back(row.text(0));
  return texts;
}

}  // namespace

Result<void> LayerTable::insert(Transaction& transaction, const LayerRow& layer, int64_t most_bytes) {
  BJ_TRY(const Rows stored, transaction.run(kStored, {layer.organization}));
  if (most_bytes != 0 && stored.rows[0].integer(0) + layer.size_bytes > most_bytes) {
    const bool alone = layer.size_bytes > most_bytes;
    return fail(alone ? Code::kUnprocessable : Code::kExhausted,
                fmt::format("this organization may store {} MiB of files of stopped sandboxes, snapshots and "
                            "templates, and this {}",
                            most_bytes >> 20, alone ? "alone is more" : "would be beyond it: delete some"),
                kOverQuota);
  }
  BJ_CHECK(transaction.run("INSERT INTO layers (id, organization_id, size_bytes, created_at) VALUES ($1, $2, $3, $4)",
                           {layer.id, layer.organization, layer.size_bytes, layer.created_at}));
  return {};
}

Result<void> LayerTable::set_uses(Transaction& transaction, const std::string& user,
                                  const std::vector<std::string>& layers) {
  BJ_CHECK(transaction.run("DELETE FROM layer_uses WHERE user_id = $1", {user}));
  for (const std::string& layer : layers) {
    if (!transaction.run("INSERT INTO layer_uses (layer_id, user_id) VALUES ($1, $2)", {layer, user}))
      return fail(Code::kConflict, "its files were removed meanwhile");
  }
  return {};
}

Result<std::vector<std::string>> LayerTable::forget_unused(const std::optional<std::vector<std::string>>& among) {
  if (among && among->empty()) return std::vector<std::string>();
  Sql sql("DELETE FROM layers WHERE NOT EXISTS (SELECT 1 FROM layer_uses WHERE layer_id = layers.id)");
  if (among) sql.add(" AND id IN ").bind_list(*among);
  sql.add(" RETURNING id");
  BJ_TRY(const Rows rows, database_.write(sql.text(), sql.params()));
  return texts_of(rows);
}

Result<void> LayerTable::release_left_over() {
  for (const char* const statement :
       {"DELETE FROM layer_uses WHERE user_id LIKE 'cmd%' AND user_id NOT IN (SELECT id FROM sandbox_commands WHERE "
        "state IN ('waiting', 'claimed'))",
        "DELETE FROM layer_uses WHERE user_id LIKE 'sb%' AND user_id NOT IN (SELECT id FROM sandboxes WHERE state <> "
        "'deleted')",
        "DELETE FROM layer_uses WHERE user_id LIKE 'build/%' AND user_id NOT IN (SELECT 'build/' || id FROM "
        "template_builds)",
        "DELETE FROM layer_uses WHERE user_id LIKE 'step/%' AND user_id NOT IN (SELECT 'step/' || organization_id || "
        "'/' || chain FROM template_step_cache)"}) {
    BJ_CHECK(database_.write(statement));
  }
  return {};
}

Result<std::vector<std::string>> LayerTable::all() {
  BJ_TRY(const Rows rows, database_.read("SELECT id FROM layers"));
  return texts_of(rows);
}

Result<int64_t> LayerTable::stored_bytes(const std::string& organization) {
  BJ_TRY(const Rows rows, database_.read(kStored, {organization}));
  return rows.rows[0].integer(0);
}

Result<std::map<std::string, int64_t>> LayerTable::sizes(const std::vector<std::string>& layers) {
  std::map<std::string, int64_t> sizes;
  if (layers.empty()) return sizes;
  Sql sql("SELECT id, size_bytes FROM layers WHERE id IN ");
  sql.bind_list(layers);
  BJ_TRY(const Rows rows, database_.read(sql.text(), sql.params()));
  for (const Row& row : rows.rows) sizes[row.text(0)] = row.integer(1);
  return sizes;
}

}  // namespace bj
