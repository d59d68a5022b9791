// Builds of templates: how each stands, what it has said, and what its steps led to, for the next that begins the same.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "store/database.h"
#include "store/layer_table.h"
#include "store/template_table.h"

namespace bj {

struct BuildLogRow {
  int64_t position = 0;  // from 0, without gaps
  int64_t time = 0;
  Text level;  // debug | info | warn | error
  Text step;   // "base", "1", ..., "finalize"; empty: none
  Text message;
};

class TemplateBuildTable {
 public:
  explicit TemplateBuildTable(Database& database) : database_(database) {}

  Result<TemplateBuildRow> get(const std::string& template_id, const std::string& build);
  Result<std::optional<TemplateBuildRow>> find(const std::string& build);
  // The build that a tag of the template means.
  Result<std::optional<TemplateBuildRow>> of_tag(const std::string& template_id, const std::string& tag);
  Result<std::vector<TemplateBuildRow>> list(const std::string& template_id);

  // From `waiting` to `building`, once. kConflict: it was begun before.
  Result<TemplateBuildRow> begin(const std::string& template_id, const std::string& build, const std::string& node,
                                 const std::string& request, int64_t now);
  // From `building` to `ready`; its tags mean it from now on, and it uses these layers.
  Result<void> succeed(const std::string& build, const std::string& content, const std::vector<std::string>& tags,
                       const std::vector<std::string>& layers, int64_t now);
  // It uses no layers from now on.
  Result<void> fail_with(const std::string& build, const std::string& step, const std::string& message, int64_t now);
  // Those that somebody was building when he died.
  Result<std::vector<TemplateBuildRow>> building();

  Result<void> add_logs(const std::string& build, const std::vector<BuildLogRow>& logs);
  Result<std::vector<BuildLogRow>> logs(const std::string& build, int64_t from, int64_t limit);

  // What these steps led to in this organization, if they were done before; counts as a use.
  Result<std::optional<std::string>> cached(const std::string& organization, const std::string& chain, int64_t now);
  // What is remembered uses its layers.
  Result<void> cache(const std::string& organization, const std::string& chain, const std::string& content,
                     const std::vector<std::string>& layers, int64_t now);
  Result<void> forget_cached(const std::string& organization, const std::string& chain);
  // A layer that a build has just made, and all that it uses now.
  Result<void> add_layer(const std::string& build, const LayerRow& layer, const std::vector<std::string>& used,
                         int64_t most_bytes);
  // Cached steps that nobody used since; yields how many went.
  Result<int64_t> drop_cache(int64_t used_before);

 private:
  Database& database_;
};

}  // namespace bj
