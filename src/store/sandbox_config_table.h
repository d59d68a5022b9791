// Sandbox configurations: one a type and organization.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "store/database.h"
#include "store/rows.h"

namespace bj {

class SandboxConfigTable {
 public:
  explicit SandboxConfigTable(Database& database) : database_(database) {}

  Result<std::optional<SandboxConfigRow>> find(const std::string& organization, const std::string& type);
  // The row of that type; made with this configuration when there is none. Two callers at once get the same row.
  Result<SandboxConfigRow> find_or_create(const Actor& actor, const std::string& type, const std::string& config);
  // An identical text is left untouched, timestamps included.
  Result<SandboxConfigRow> upsert(const Actor& actor, const std::string& type, const std::string& config);
  Result<SandboxConfigRow> get(const std::string& organization, const std::string& id);
  // Only `config` is written, and only if the edit changed it.
  Result<SandboxConfigRow> change(const Actor& actor, const std::string& id,
                                  const std::function<Result<void>(SandboxConfigRow&)>& edit);
  // Its environment variables go with it.
  Result<SandboxConfigRow> remove(const std::string& organization, const std::string& id);
  Result<std::vector<SandboxConfigRow>> list(const std::string& organization, const Page& page,
                                             const MaybeText& type = {});

 private:
  Database& database_;
};

}  // namespace bj
