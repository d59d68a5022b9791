// The schema, as numbered steps. A database remembers which it has taken; the rest are taken at open, all in one
// transaction, by one process at a time. A step that was released is never changed: a new one follows.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "store/database.h"

namespace bj {

struct Migration {
  int64_t version = 0;
  std::string_view name;
  std::vector<std::string_view> statements;
};

const std::vector<Migration>& migrations();
// kInvalid if the database has a version that this list doesn't know: it belongs to a newer Belljar.
Result<void> migrate(Database& database, std::span<const Migration> steps);

}  // namespace bj
