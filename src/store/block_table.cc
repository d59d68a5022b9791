#include "store/block_table.h"

#include "store/block_rows.h"
#include "store/sql.h"

namespace bj {
namespace {

// A LIKE pattern, which outlives the statement, for a column.
void add_search(Sql& sql, std::string_view column, const MaybeText& pattern) {
  if (!pattern) return;
  sql.add(" AND LOWER(").add(column).add(") LIKE LOWER(").bind(*pattern).add(") ESCAPE '\\'");
}

Result<MaybeText> pattern_of(const MaybeText& search) {
  BJ_CHECK(check_search(search));
  return search ? MaybeText(like_pattern(*search)) : MaybeText();
}

}  // namespace

Result<BlockRow> BlockTable::create(const Actor& actor, BlockRow block) {
  return database_.transact_value<BlockRow>(
      [&](Transaction& transaction) { return insert_block(transaction, actor, block, now_us()); });
}

Result<BlockRow> BlockTable::get(const std::string& organization, const std::string& id) {
  static const std::string kSql = "SELECT " + block_columns() + " FROM blocks WHERE id = $1 AND organization_id = $2";
  BJ_TRY(Rows rows, database_.read(kSql, {id, organization}));
  BJ_TRY(const Row row, only_row(std::move(rows), "Block", id));
  return block_of(row);
}

Result<std::vector<BlockRow>> BlockTable::list(const std::string& organization, const Page& page,
                                               const BlockFilter& filter) {
  BJ_TRY(const MaybeText label, pattern_of(filter.label_search));
  BJ_TRY(const MaybeText value, pattern_of(filter.value_search));
  BJ_TRY(const MaybeText description, pattern_of(filter.description_search));
  Sql sql("SELECT " + block_columns() + " FROM blocks WHERE organization_id = ");
  sql.bind(organization);
  if (filter.label) sql.add(" AND label = ").bind(*filter.label);
  add_search(sql, "label", label);
  add_search(sql, "value", value);
  add_search(sql, "description", description);
  BJ_TRY(const auto rows, read_page(database_, std::move(sql), {"Block", "blocks"}, organization, page));
  std::vector<BlockRow> list;
  for (const Row& row : rows) list.push_back(block_of(row));
  return list;
}

Result<BlockRow> BlockTable::change(const Actor& actor, const std::string& id,
                                    const std::function<Result<void>(BlockRow&)>& edit) {
  return database_.transact_value<BlockRow>(
      [&](Transaction& transaction) { return update_block(transaction, actor, std::nullopt, id, edit); });
}

Result<BlockRow> BlockTable::remove(const std::string& organization, const std::string& id) {
  return database_.transact_value<BlockRow>([&](Transaction& transaction) -> Result<BlockRow> {
    BJ_TRY(Rows rows,
           transaction.run("SELECT " + block_columns() + " FROM blocks WHERE id = $1 AND organization_id = $2",
                           {id, organization}));
    BJ_TRY(const Row row, only_row(std::move(rows), "Block", id));
    BJ_CHECK(transaction.run("DELETE FROM blocks WHERE id = $1", {id}));
    return block_of(row);
  });
}

}  // namespace bj
