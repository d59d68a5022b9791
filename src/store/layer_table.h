// Layers on disk that somebody refers to: whose they are, how large, and by what they are used: a sandbox or a command
// of the queue (by its id), a template's build ("build/<id>"), a cached step of builds ("step/<organization>/<chain>").
// What uses a layer writes that in the transaction in which it comes to refer to it. One that nobody uses any more may
// be forgotten; only then may its files go. Files without a row here are left over.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "store/database.h"
#include "store/rows.h"

namespace bj {

struct LayerRow {
  Text id;
  Text organization;
  int64_t size_bytes = 0;
  int64_t created_at = 0;
};

class LayerTable {
 public:
  explicit LayerTable(Database& database) : database_(database) {}

  // kExhausted, with a sentence for the caller, if the organization would store more than `most_bytes` (0: no limit).
  static Result<void> insert(Transaction& transaction, const LayerRow& layer, int64_t most_bytes);
  // `user` uses these and no others from now on. kConflict: one of them was forgotten meanwhile.
  static Result<void> set_uses(Transaction& transaction, const std::string& user,
                               const std::vector<std::string>& layers);
  static std::string build_user(const std::string& build) { return "build/" + build; }

  // Those that nobody uses, of these or of all, forgotten here.
  Result<std::vector<std::string>> forget_unused(const std::optional<std::vector<std::string>>& among);
  // What is deleted or over uses nothing, whatever a server that died in between has left.
  Result<void> release_left_over();
  Result<std::vector<std::string>> all();
  Result<int64_t> stored_bytes(const std::string& organization);
  // Of each; those that are not known are left out.
  Result<std::map<std::string, int64_t>> sizes(const std::vector<std::string>& layers);

 private:
  Database& database_;
};

}  // namespace bj
