#include "store/template_build_table.h"

#include "store/sql.h"
#include "store/template_rows.h"

namespace bj {

TemplateBuildRow build_of(const Row& row) {
  TemplateBuildRow build;
  build.id = row.text(0);
  build.organization = row.text(1);
  build.template_id = row.text(2);
  build.status = row.text(3);
  build.reason_step = row.text(4);
  build.reason_message = row.text(5);
  build.node = row.maybe_text(6);
  build.tags = row.text(7);
  build.request = row.text(8);
  build.content = row.maybe_text(9);
  build.created_at = row.integer(10);
  build.updated_at = row.integer(11);
  build.finished_at = row.maybe_integer(12);
  return build;
}

Result<void> insert_build(Transaction& transaction, const TemplateBuildRow& b) {
  BJ_CHECK(transaction.run("INSERT INTO template_builds (" BUILD_COLUMNS
                           ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
                           {b.id, b.organization, b.template_id, b.status, b.reason_step, b.reason_message, b.node,
                            b.tags, b.request, b.content, b.created_at, b.updated_at, b.finished_at}));
  return {};
}

Result<void> put_tags(Transaction& transaction, const std::string& template_id, const std::string& build,
                      const std::vector<std::string>& tags, int64_t now) {
  for (const std::string& tag : tags) {
    BJ_CHECK(transaction.run(
        "INSERT INTO template_tags (template_id, tag, build_id, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT "
        "(template_id, tag) DO UPDATE SET build_id = excluded.build_id, created_at = excluded.created_at",
        {template_id, tag, build, now}));
  }
  return {};
}

namespace {

std::vector<TemplateBuildRow> builds_of(const Rows& rows) {
  std::vector<TemplateBuildRow> builds;
  for (const Row& row : rows.rows) builds.push_back(build_of(row));
  return builds;
}

// As whom remembered steps use layers.
std::string user_of_cache(const std::string& organization, const std::string& chain) {
  return "step/" + organization + "/" + chain;
}

std::optional<TemplateBuildRow> first_of(const Rows& rows) {
  if (rows.rows.empty()) return std::nullopt;
  return build_of(rows.rows[0]);
}

}  // namespace

Result<TemplateBuildRow> TemplateBuildTable::get(const std::string& template_id, const std::string& build) {
  BJ_TRY(Rows rows, database_.read("SELECT " BUILD_COLUMNS " FROM template_builds WHERE id = $1 AND template_id = $2",
                                   {build, template_id}));
  BJ_TRY(const Row row, only_row(std::move(rows), "Build", build));
  return build_of(row);
}

Result<std::optional<TemplateBuildRow>> TemplateBuildTable::find(const std::string& build) {
  BJ_TRY(const Rows rows, database_.read("SELECT " BUILD_COLUMNS " FROM template_builds WHERE id = $1", {build}));
  return first_of(rows);
}

Result<std::optional<TemplateBuildRow>> TemplateBuildTable::of_tag(const std::string& template_id,
                                                                   const std::string& tag) {
  BJ_TRY(const Rows rows,
         database_.read("SELECT " BUILD_COLUMNS " FROM template_builds WHERE id = (SELECT build_id FROM template_tags "
                        "WHERE template_id = $1 AND tag = $2)",
                        {template_id, tag}));
  return first_of(rows);
}

Result<std::vector<TemplateBuildRow>> TemplateBuildTable::list(const std::string& template_id) {
  BJ_TRY(const Rows rows, database_.read("SELECT " BUILD_COLUMNS
                                         " FROM template_builds WHERE template_id = $1 ORDER BY created_at DESC, id",
                                         {template_id}));
  return builds_of(rows);
}

Result<TemplateBuildRow> TemplateBuildTable::begin(const std::string& template_id, const std::string& build,
                                                   const std::string& node, const std::string& request, int64_t now) {
  BJ_TRY(const Rows done,
         database_.write("UPDATE template_builds SET status = 'building', node = $1, request = $2, updated_at = $3 "
                         "WHERE id = $4 AND template_id = $5 AND status = 'waiting'",
                         {node, request, now, build, template_id}));
  BJ_TRY(TemplateBuildRow row, get(template_id, build));
  if (done.affected == 0) return fail(Code::kConflict, "build " + build + " was begun before: it is " + row.status);
  return row;
}

Result<void> TemplateBuildTable::succeed(const std::string& build, const std::string& content,
                                         const std::vector<std::string>& tags, const std::vector<std::string>& layers,
                                         int64_t now) {
  return database_.transact([&](Transaction& transaction) -> Result<void> {
    BJ_TRY(const Rows rows,
           transaction.run("UPDATE template_builds SET status = 'ready', content = $1, node = NULL, updated_at = $2, "
                           "finished_at = $2 WHERE id = $3 AND status = 'building' RETURNING template_id",
                           {content, now, build}));
    if (rows.rows.empty()) return fail(Code::kConflict, "build " + build + " is no longer under way");
    const std::string template_id = rows.rows[0].text(0);
    BJ_CHECK(put_tags(transaction, template_id, build, tags, now));
    BJ_CHECK(LayerTable::set_uses(transaction, LayerTable::build_user(build), layers));
    BJ_CHECK(transaction.run("UPDATE templates SET updated_at = $1 WHERE id = $2", {now, template_id}));
    return {};
  });
}

Result<void> TemplateBuildTable::fail_with(const std::string& build, const std::string& step,
                                           const std::string& message, int64_t now) {
  return database_.transact([&](Transaction& transaction) -> Result<void> {
    BJ_TRY(
        const Rows rows,
        transaction.run("UPDATE template_builds SET status = 'error', reason_step = $1, reason_message = $2, node = "
                        "NULL, updated_at = $3, finished_at = $3 WHERE id = $4 AND status IN ('waiting', 'building')",
                        {step, message, now, build}));
    return rows.affected == 0 ? Result<void>() : LayerTable::set_uses(transaction, LayerTable::build_user(build), {});
  });
}

Result<std::vector<TemplateBuildRow>> TemplateBuildTable::building() {
  BJ_TRY(const Rows rows, database_.read("SELECT " BUILD_COLUMNS
                                         " FROM template_builds WHERE status = 'building' ORDER BY created_at, id"));
  return builds_of(rows);
}

Result<void> TemplateBuildTable::add_logs(const std::string& build, const std::vector<BuildLogRow>& logs) {
  return database_.transact([&](Transaction& transaction) -> Result<void> {
    for (const BuildLogRow& log : logs) {
      BJ_CHECK(transaction.run(
          "INSERT INTO template_build_logs (build_id, position, time, level, step, message) VALUES ($1, $2, $3, $4, "
          "$5, $6)",
          {build, log.position, log.time, log.level, log.step, log.message}));
    }
    return {};
  });
}

Result<std::vector<BuildLogRow>> TemplateBuildTable::logs(const std::string& build, int64_t from, int64_t limit) {
  BJ_TRY(const Rows rows,
         database_.read("SELECT position, time, level, step, message FROM template_build_logs WHERE build_id = $1 AND "
                        "position >= $2 ORDER BY position LIMIT $3",
                        {build, from, limit}));
  std::vector<BuildLogRow> logs;
  for (const Row& row : rows.rows)
    logs.push_back({row.integer(0), row.integer(1), row.text(2), row.text(3), row.text(4)});
  return logs;
}

Result<std::optional<std::string>> TemplateBuildTable::cached(const std::string& organization, const std::string& chain,
                                                              int64_t now) {
  BJ_TRY(const Rows rows,
         database_.write("UPDATE template_step_cache SET used_at = $1 WHERE organization_id = $2 AND chain = $3 "
                         "RETURNING content",
                         {now, organization, chain}));
  if (rows.rows.empty()) return std::nullopt;
  return rows.rows[0].text(0);
}

Result<void> TemplateBuildTable::cache(const std::string& organization, const std::string& chain,
                                       const std::string& content, const std::vector<std::string>& layers,
                                       int64_t now) {
  return database_.transact([&](Transaction& transaction) -> Result<void> {
    BJ_CHECK(transaction.run(
        "INSERT INTO template_step_cache (organization_id, chain, content, created_at, used_at) VALUES ($1, $2, $3, "
        "$4, $4) ON CONFLICT (organization_id, chain) DO UPDATE SET content = excluded.content, used_at = "
        "excluded.used_at",
        {organization, chain, content, now}));
    return LayerTable::set_uses(transaction, user_of_cache(organization, chain), layers);
  });
}

Result<void> TemplateBuildTable::forget_cached(const std::string& organization, const std::string& chain) {
  return database_.transact([&](Transaction& transaction) -> Result<void> {
    BJ_CHECK(transaction.run("DELETE FROM template_step_cache WHERE organization_id = $1 AND chain = $2",
                             {organization, chain}));
    return LayerTable::set_uses(transaction, user_of_cache(organization, chain), {});
  });
}

Result<void> TemplateBuildTable::add_layer(const std::string& build, const LayerRow& layer,
                                           const std::vector<std::string>& used, int64_t most_bytes) {
  return database_.transact([&](Transaction& transaction) -> Result<void> {
    BJ_CHECK(LayerTable::insert(transaction, layer, most_bytes));
    return LayerTable::set_uses(transaction, LayerTable::build_user(build), used);
  });
}

Result<int64_t> TemplateBuildTable::drop_cache(int64_t used_before) {
  return database_.transact_value<int64_t>([&](Transaction& transaction) -> Result<int64_t> {
    BJ_CHECK(
        transaction.run("DELETE FROM layer_uses WHERE user_id IN (SELECT 'step/' || organization_id || '/' || "
                        "chain FROM template_step_cache WHERE used_at < $1)",
                        {used_before}));
    BJ_TRY(const Rows done, transaction.run("DELETE FROM template_step_cache WHERE used_at < $1", {used_before}));
    return done.affected;
  });
}

}  // namespace bj
