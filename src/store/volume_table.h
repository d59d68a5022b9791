// Volumes: directories with a size that outlive sandboxes, each of one organization, known there by its name. The store
// keeps what there is and whose; the disks lie on the machine that made them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "store/database.h"
#include "store/rows.h"

namespace bj {

struct VolumeRow {
  Text id;
  Text organization;
  Text name;
  int64_t size_bytes = 0;
  Text machine;           // where its disk lies
  Text state = "making";  // making | ready | removing
  MaybeText created_by;
  int64_t created_at = 0;
};

// What an organization's volumes may take together; 0: no limit.
struct VolumeShare {
  int64_t count = 0;
  int64_t bytes = 0;
};

class VolumeTable {
 public:
  explicit VolumeTable(Database& database) : database_(database) {}

  // In state `making`, if the organization's share allows it (else is_over_quota(), or kUnprocessable: it alone is more
  // than that). kConflict: the name is taken.
  Result<void> create(const VolumeRow& row, const VolumeShare& quota);
  Result<void> set_ready(const std::string& id);
  // Only those that are ready are found, here and in the next two.
  Result<VolumeRow> get(const std::string& organization, const std::string& id);
  Result<VolumeRow> find(const std::string& organization, const std::string& name);
  Result<std::vector<VolumeRow>> list(const std::string& organization, const Page& page);
  // From now on it is not found. kConflict: a sandbox that is not over has it.
  Result<VolumeRow> begin_removal(const std::string& organization, const std::string& id);
  Result<void> forget(const std::string& id);
  // Of all organizations: what a crash left of this machine's, begun and not finished.
  Result<std::vector<VolumeRow>> unfinished(const std::string& machine);

 private:
  Database& database_;
};

// kDangling unless all of them are there, ready, and the organization's; held so until the transaction ends.
Result<void> check_volumes_exist(Transaction& transaction, const std::string& organization,
                                 const std::vector<std::string>& ids);

}  // namespace bj
