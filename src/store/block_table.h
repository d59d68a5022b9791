// Memory blocks by themselves: agents share those that they are given.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "store/database.h"
#include "store/rows.h"

namespace bj {

// What a list shows; what is not set does not matter.
struct BlockFilter {
  MaybeText label;
  MaybeText label_search, value_search, description_search;  // parts of them, in any case
};

class BlockTable {
 public:
  explicit BlockTable(Database& database) : database_(database) {}

  Result<BlockRow> create(const Actor& actor, BlockRow block);
  Result<BlockRow> get(const std::string& organization, const std::string& id);
  Result<std::vector<BlockRow>> list(const std::string& organization, const Page& page, const BlockFilter& filter = {});
  Result<BlockRow> change(const Actor& actor, const std::string& id,
                          const std::function<Result<void>(BlockRow&)>& edit);
  // Agents that have it lose it.
  Result<BlockRow> remove(const std::string& organization, const std::string& id);

 private:
  Database& database_;
};

}  // namespace bj
