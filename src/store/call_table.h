// The record of calls: who ran which tool where, for how long, with what outcome. No arguments, no results, no output.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "store/database.h"
#include "store/rows.h"

namespace bj {

struct CallFilter {
  MaybeText tool;  // id or name
  MaybeText agent;
  MaybeText status;
  std::optional<int64_t> since;  // started at or after
};

class CallTable {
 public:
  explicit CallTable(Database& database) : database_(database) {}

  // Many at once, in one transaction: recording must not cost a disk write a call. Rows name their organization.
  Result<void> insert_many(std::vector<CallRow> calls);
  Result<CallRow> get(const std::string& organization, const std::string& id);
  // By the time they started.
  Result<std::vector<CallRow>> list(const std::string& organization, const CallFilter& filter, const Page& page);
  // Of all organizations; yields how many went.
  Result<int64_t> remove_older_than(int64_t started_at);

 private:
  Database& database_;
};

}  // namespace bj
