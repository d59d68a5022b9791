// Builds as rows: what the two tables of templates share. Internal to the store.
#pragma once

#include "store/database.h"
#include "store/template_table.h"

namespace bj {

#define BUILD_COLUMNS                                                                                                 \
  "id, organization_id, template_id, status, reason_step, reason_message, node, tags, request, content, created_at, " \
  "updated_at, finished_at"

TemplateBuildRow build_of(const Row& row);
Result<void> insert_build(Transaction& transaction, const TemplateBuildRow& build);
// Lets the tags mean that build, whatever they meant before.
Result<void> put_tags(Transaction& transaction, const std::string& template_id, const std::string& build,
                      const std::vector<std::string>& tags, int64_t now);

}  // namespace bj
