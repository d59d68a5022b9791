// The tools of organizations: one a name.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "store/database.h"
#include "store/rows.h"

namespace bj {

enum class ToolOrderBy { kCreatedAt, kName };

// Every condition that is set must hold. Empty lists set none.
struct ToolFilter {
  MaybeText name;
  std::vector<std::string> names;
  std::vector<std::string> ids;
  MaybeText search;  // substring of the name, whatever its case
  std::vector<std::string> types;
  std::vector<std::string> excluded_types;
  MaybeText project;              // of that project or of none
  std::vector<std::string> tags;  // any of them; each as it stands in JSON
};

class ToolTable {
 public:
  explicit ToolTable(Database& database) : database_(database) {}

  // Makes the tool, or overwrites the one of that name in one statement: everything but id, created_at and created_by;
  // empty tags leave those that are there.
  Result<ToolRow> upsert(const Actor& actor, ToolRow tool);
  Result<ToolRow> get(const std::string& organization, const std::string& id);
  Result<std::optional<ToolRow>> find_by_name(const std::string& organization, const std::string& name);
  // Reads, lets `edit` change the row, writes it: nobody else's change is lost. A name that is taken is kConflict.
  Result<ToolRow> change(const Actor& actor, const std::string& id, const std::function<Result<void>(ToolRow&)>& edit);
  Result<ToolRow> remove(const std::string& organization, const std::string& id);
  Result<std::vector<ToolRow>> list(const std::string& organization, const ToolFilter& filter, const Page& page,
                                    ToolOrderBy order_by = ToolOrderBy::kCreatedAt);
  Result<int64_t> count(const std::string& organization, const ToolFilter& filter);

 private:
  Database& database_;
};

}  // namespace bj
