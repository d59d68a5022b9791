#include "store/block_rows.h"

#include "base/id.h"
#include "store/sql.h"

namespace bj {
namespace {

#define BLOCK_COLUMNS                                                                                      \
  "blocks.id, blocks.organization_id, blocks.label, blocks.value, blocks.char_limit, blocks.description, " \
  "blocks.read_only, blocks.metadata_, blocks.created_at, blocks.updated_at, blocks.created_by_id, "       \
  "blocks.last_updated_by_id"

Result<void> give(Transaction& transaction, const std::string& agent, const BlockRow& block) {
  const auto given = transaction.run(
      "INSERT INTO agent_blocks (agent_id, block_id, organization_id, label) "
      "VALUES ($1, $2, $3, $4) ON CONFLICT (agent_id, block_id) DO NOTHING",
      {agent, block.id, block.organization, block.label});
  if (given) return {};
  if (given.error().code != Code::kConflict) return tl::unexpected(given.error());
  return fail(Code::kConflict, "the agent has a block \"" + block.label + "\" already");
}

}  // namespace

const std::string& block_columns() {
  static const std::string kColumns = BLOCK_COLUMNS;
  return kColumns;
}

BlockRow block_of(const Row& row) {
  BlockRow block;
  block.id = row.text(0);
  block.organization = row.text(1);
  block.label = row.text(2);
  block.value = row.text(3);
  block.limit = row.integer(4);
  block.description = row.maybe_text(5);
  block.read_only = row.truth(6);
  block.metadata = row.text(7);
  block.stamp = {row.integer(8), row.integer(9), row.maybe_text(10), row.maybe_text(11)};
  return block;
}

Result<BlockRow> insert_block(Transaction& transaction, const Actor& actor, BlockRow block, int64_t created_at) {
  if (block.id.empty()) block.id = new_id("block");
  block.organization = actor.organization;
  block.stamp = {created_at, created_at, actor.user, actor.user};
  BJ_CHECK(transaction.run(
      "INSERT INTO blocks (id, organization_id, label, value, char_limit, description, read_only, metadata_, "
      "created_at, updated_at, created_by_id, last_updated_by_id) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10, "
      "$10)",
      {block.id, block.organization, block.label, block.value, block.limit, block.description, block.read_only,
       block.metadata, created_at, actor.user}));
  return block;
}

Result<BlockRow> insert_block(Transaction& transaction, const Actor& actor, const std::string& agent, BlockRow block,
                              int64_t created_at) {
  BJ_TRY(BlockRow made, insert_block(transaction, actor, std::move(block), created_at));
  BJ_CHECK(give(transaction, agent, made));
  return made;
}

Result<void> attach_block(Transaction& transaction, const Actor& actor, const std::string& agent,
                          const std::string& block) {
  BJ_TRY(Rows rows, transaction.run("SELECT " BLOCK_COLUMNS " FROM blocks WHERE id = $1 AND organization_id = $2",
                                    {block, actor.organization}));
  BJ_TRY(const Row row, only_row(std::move(rows), "Block", block));
  return give(transaction, agent, block_of(row));
}

Result<void> detach_block(Transaction& transaction, const std::string& agent, const std::string& block) {
  BJ_CHECK(transaction.run("DELETE FROM agent_blocks WHERE agent_id = $1 AND block_id = $2", {agent, block}));
  return {};
}

Result<BlockRow> update_block(Transaction& transaction, const Actor& actor, const MaybeText& agent,
                              const std::string& block, const std::function<Result<void>(BlockRow&)>& edit) {
  Sql sql("SELECT " BLOCK_COLUMNS " FROM blocks WHERE id = ");
  sql.bind(block).add(" AND organization_id = ").bind(actor.organization);
  if (agent) sql.add(" AND id IN (SELECT block_id FROM agent_blocks WHERE agent_id = ").bind(*agent).add(")");
  sql.add(for_update(transaction));
  BJ_TRY(Rows rows, transaction.run(sql.text(), sql.params()));
  BJ_TRY(const Row row, only_row(std::move(rows), "Block", block));
  const BlockRow before = block_of(row);
  BlockRow after = before;
  BJ_CHECK(edit(after));
  after.id = before.id;
  after.organization = before.organization;
  after.stamp = {before.stamp.created_at, now_us(), before.stamp.created_by, actor.user};
  BJ_CHECK(transaction.run(
      "UPDATE blocks SET label = $1, value = $2, char_limit = $3, description = $4, read_only = $5, metadata_ = $6, "
      "updated_at = $7, last_updated_by_id = $8 WHERE id = $9",
      {after.label, after.value, after.limit, after.description, after.read_only, after.metadata,
       after.stamp.updated_at, after.stamp.updated_by, after.id}));
  if (after.label != before.label)
    BJ_CHECK(transaction.run("UPDATE agent_blocks SET label = $1 WHERE block_id = $2", {after.label, after.id}));
  return after;
}

Result<std::vector<BlockRow>> read_blocks(Database& database, const std::string& organization, const std::string& agent,
                                          const Page& page) {
  Sql sql("SELECT " BLOCK_COLUMNS
          " FROM agent_blocks JOIN blocks ON blocks.id = agent_blocks.block_id WHERE agent_blocks.agent_id = ");
  sql.bind(agent).add(" AND agent_blocks.organization_id = ").bind(organization);
  const Listing listing{"Block", "blocks", "blocks.created_at"};
  BJ_TRY(const std::vector<Row> rows, read_page(database, std::move(sql), listing, organization, page));
  std::vector<BlockRow> blocks;
  for (const Row& row : rows) blocks.push_back(block_of(row));
  return blocks;
}

}  // namespace bj
