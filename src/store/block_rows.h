// Memory blocks as rows: what AgentTable and BlockTable do with them inside their transactions.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "store/database.h"
#include "store/rows.h"

namespace bj {

Result<BlockRow> insert_block(Transaction& transaction, const Actor& actor, BlockRow block, int64_t created_at);
// The same, and gives it to the agent. A label that the agent has already is kConflict.
Result<BlockRow> insert_block(Transaction& transaction, const Actor& actor, const std::string& agent, BlockRow block,
                              int64_t created_at);
Result<void> attach_block(Transaction& transaction, const Actor& actor, const std::string& agent,
                          const std::string& block);
Result<void> detach_block(Transaction& transaction, const std::string& agent, const std::string& block);
// With an agent: only if the block is one of that agent's.
Result<BlockRow> update_block(Transaction& transaction, const Actor& actor, const MaybeText& agent,
                              const std::string& block, const std::function<Result<void>(BlockRow&)>& edit);
const std::string& block_columns();
BlockRow block_of(const Row& row);
Result<std::vector<BlockRow>> read_blocks(Database& database, const std::string& organization, const std::string& agent,
                                          const Page& page);

}  // namespace bj
