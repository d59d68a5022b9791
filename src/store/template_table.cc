#include "store/template_table.h"

#include "store/sql.h"
#include "store/template_rows.h"

namespace bj {
namespace {

#define TEMPLATE_COLUMNS                                                                                          \
  "id, organization_id, kind, sandbox_id, public, cpus, memory_bytes, spawn_count, last_spawned_at, created_at, " \
  "updated_at, created_by_id, network"

TemplateRow template_of(const Row& row) {
  TemplateRow found;
  found.id = row.text(0);
  found.organization = row.text(1);
  found.kind = row.text(2);
  found.sandbox = row.maybe_text(3);
  found.is_public = row.truth(4);
  found.cpus = row.real(5);
  found.memory_bytes = row.integer(6);
  found.spawn_count = row.integer(7);
  found.last_spawned_at = row.maybe_integer(8);
  found.created_at = row.integer(9);
  found.updated_at = row.integer(10);
  found.created_by = row.maybe_text(11);
  found.network = row.maybe_text(12);
  return found;
}

Result<void> insert(Transaction& transaction, const TemplateRow& t) {
  BJ_CHECK(transaction.run("INSERT INTO templates (" TEMPLATE_COLUMNS
                           ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
                           {t.id, t.organization, t.kind, t.sandbox, t.is_public, t.cpus, t.memory_bytes, t.spawn_count,
                            t.last_spawned_at, t.created_at, t.updated_at, t.created_by, t.network}));
  return {};
}

Result<std::vector<std::string>> names_of(Transaction& transaction, const std::string& id) {
  BJ_TRY(const Rows rows,
         transaction.run("SELECT name FROM template_names WHERE template_id = $1 ORDER BY created_at, name", {id}));
  std::vector<std::string> names;
  for (const Row& row : rows.rows) names.push_back(row.text(0));
  return names;
}

// The template of that name, or a new one that has it from now on.
Result<TemplateRow> named(Transaction& transaction, const std::string& name, TemplateRow fresh) {
  if (!name.empty()) {
    BJ_TRY(const Rows rows,
           transaction.run("SELECT " TEMPLATE_COLUMNS " FROM templates WHERE organization_id = $1 AND id = (SELECT "
                           "template_id FROM template_names WHERE organization_id = $1 AND name = $2)" +
                               std::string(for_update(transaction)),
                           {fresh.organization, name}));
    if (!rows.rows.empty()) {
      TemplateRow found = template_of(rows.rows[0]);
      if (found.kind != fresh.kind)
        return fail(Code::kConflict, "\"" + name + "\" is the name of a " + found.kind + " already");
      found.cpus = fresh.cpus;
      found.memory_bytes = fresh.memory_bytes;
      found.updated_at = fresh.updated_at;
      if (fresh.network) found.network = fresh.network;  // what was set before holds for a build that says nothing
      BJ_CHECK(transaction.run(
          "UPDATE templates SET cpus = $1, memory_bytes = $2, updated_at = $3, network = $4 WHERE id = $5",
          {found.cpus, found.memory_bytes, found.updated_at, found.network, found.id}));
      return found;
    }
  }
  BJ_CHECK(insert(transaction, fresh));
  if (!name.empty()) {
    BJ_CHECK(transaction.run(
        "INSERT INTO template_names (organization_id, name, template_id, created_at) VALUES ($1, $2, $3, $4)",
        {fresh.organization, name, fresh.id, fresh.created_at}));
  }
  return fresh;
}

// Names and newest builds of many templates in three statements.
Result<std::vector<TemplateView>> views_of(Database& database, const std::vector<Row>& rows) {
  std::vector<TemplateView> views;
  std::map<std::string, size_t> place;
  std::vector<std::string> ids;
  for (const Row& row : rows) {
    TemplateView view;
    view.row = template_of(row);
    place[view.row.id] = views.size();
    ids.push_back(view.row.id);
    views.push_back(std::move(view));
  }
  if (ids.empty()) return views;
  Sql names("SELECT template_id, name FROM template_names WHERE template_id IN ");
  names.bind_list(ids).add(" ORDER BY created_at, name");
  BJ_TRY(const Rows found, database.read(names.text(), names.params()));
  for (const Row& row : found.rows) views[place.at(row.text(0))].names.push_back(row.text(1));
  Sql builds("SELECT " BUILD_COLUMNS " FROM template_builds WHERE template_id IN ");
  builds.bind_list(ids).add(" ORDER BY created_at, id");
  BJ_TRY(const Rows built, database.read(builds.text(), builds.params()));
  for (const Row& row : built.rows) {
    TemplateBuildRow build = build_of(row);
    TemplateView& view = views[place.at(build.template_id)];
    ++view.builds;
    view.newest = std::move(build);
  }
  return views;
}

}  // namespace

Result<TemplateTable::Made> TemplateTable::add_build(const Actor& actor, const std::string& name, TemplateRow row,
                                                     TemplateBuildRow build) {
  return add_ready(actor, name, std::move(row), std::move(build), {});
}

Result<TemplateTable::Made> TemplateTable::add_ready(const Actor& actor, const std::string& name, TemplateRow row,
                                                     TemplateBuildRow build, const std::vector<std::string>& tags,
                                                     const Also& also) {
  row.organization = build.organization = actor.organization;
  row.created_by = actor.user;
  return database_.transact_value<Made>([&](Transaction& transaction) -> Result<Made> {
    Made made;
    BJ_TRY(made.row, named(transaction, name, row));
    made.build = build;
    made.build.template_id = made.row.id;
    BJ_CHECK(insert_build(transaction, made.build));
    BJ_CHECK(put_tags(transaction, made.row.id, made.build.id, tags, made.build.created_at));
    BJ_TRY(made.names, names_of(transaction, made.row.id));
    if (also) BJ_CHECK(also(transaction, made));
    return made;
  });
}

Result<TemplateView> TemplateTable::get(const std::string& organization, const std::string& id) {
  BJ_TRY(Rows rows, database_.read("SELECT " TEMPLATE_COLUMNS " FROM templates WHERE id = $1 AND organization_id = $2",
                                   {id, organization}));
  BJ_TRY(const Row row, only_row(std::move(rows), "Template", id));
  BJ_TRY(std::vector<TemplateView> views, views_of(database_, {row}));
  return std::move(views[0]);
}

Result<std::optional<std::string>> TemplateTable::id_of_name(const std::string& organization, const std::string& name) {
  BJ_TRY(const Rows rows,
         database_.read("SELECT template_id FROM template_names WHERE organization_id = $1 AND name = $2",
                        {organization, name}));
  if (rows.rows.empty()) return std::nullopt;
  return rows.rows[0].text(0);
}

Result<std::optional<TemplateView>> TemplateTable::find_public(const std::string& id) {
  BJ_TRY(const Rows rows,
         database_.read("SELECT " TEMPLATE_COLUMNS " FROM templates WHERE id = $1 AND public = 1", {id}));
  if (rows.rows.empty()) return std::nullopt;
  BJ_TRY(std::vector<TemplateView> views, views_of(database_, rows.rows));
  return std::move(views[0]);
}

Result<std::vector<TemplateView>> TemplateTable::list(const std::string& organization, const TemplateFilter& filter,
                                                      const Page& page) {
  Sql sql("SELECT " TEMPLATE_COLUMNS " FROM templates WHERE organization_id = ");
  sql.bind(organization);
  if (filter.kind) sql.add(" AND kind = ").bind(*filter.kind);
  if (filter.sandbox) sql.add(" AND sandbox_id = ").bind(*filter.sandbox);
  if (filter.name) {
    sql.add(" AND EXISTS (SELECT 1 FROM template_names n WHERE n.template_id = templates.id AND n.name = ");
    sql.bind(*filter.name).add(")");
  }
  BJ_TRY(const std::vector<Row> rows,
         read_page(database_, std::move(sql), {"Template", "templates"}, organization, page));
  return views_of(database_, rows);
}

Result<std::vector<TemplateView>> TemplateTable::list_public(const std::string& organization) {
  BJ_TRY(const Rows rows,
         database_.read("SELECT " TEMPLATE_COLUMNS
                        " FROM templates WHERE organization_id = $1 AND public = 1 ORDER BY created_at, id",
                        {organization}));
  return views_of(database_, rows.rows);
}

Result<void> TemplateTable::set_public(const std::string& organization, const std::string& id, bool is_public) {
  BJ_TRY(const Rows done,
         database_.write("UPDATE templates SET public = $1, updated_at = $2 WHERE id = $3 AND organization_id = $4",
                         {is_public, now_us(), id, organization}));
  if (done.affected == 0) return fail_not_found("Template", id);
  return {};
}

Result<void> TemplateTable::set_network(const std::string& organization, const std::string& id, const MaybeText& policy,
                                        int64_t now) {
  BJ_TRY(const Rows done,
         database_.write("UPDATE templates SET network = $1, updated_at = $2 WHERE id = $3 AND organization_id = $4",
                         {policy, now, id, organization}));
  if (done.affected == 0) return fail_not_found("Template", id);
  return {};
}

Result<void> TemplateTable::count_spawn(const std::string& id, int64_t now) {
  BJ_CHECK(database_.write("UPDATE templates SET spawn_count = spawn_count + 1, last_spawned_at = $1 WHERE id = $2",
                           {now, id}));
  return {};
}

Result<TemplateView> TemplateTable::remove(const std::string& organization, const std::string& id) {
  BJ_TRY(TemplateView view, get(organization, id));
  BJ_CHECK(database_.transact([&](Transaction& transaction) -> Result<void> {
    BJ_CHECK(transaction.run(
        "DELETE FROM layer_uses WHERE user_id IN (SELECT 'build/' || id FROM template_builds WHERE template_id = $1 AND "
        "organization_id = $2)",
        {id, organization}));
    BJ_TRY(const Rows done,
           transaction.run("DELETE FROM templates WHERE id = $1 AND organization_id = $2", {id, organization}));
    return done.affected == 0 ? fail_not_found("Template", id) : Result<void>();
  }));
  return view;
}

Result<std::vector<TemplateTagRow>> TemplateTable::tags(const std::string& template_id) {
  BJ_TRY(const Rows rows,
         database_.read("SELECT tag, build_id, created_at FROM template_tags WHERE template_id = $1 ORDER BY "
                        "created_at, tag",
                        {template_id}));
  std::vector<TemplateTagRow> tags;
  for (const Row& row : rows.rows) tags.push_back({row.text(0), row.text(1), row.integer(2)});
  return tags;
}

Result<void> TemplateTable::set_tags(const std::string& template_id, const std::string& build,
                                     const std::vector<std::string>& tags, int64_t now) {
  return database_.transact(
      [&](Transaction& transaction) { return put_tags(transaction, template_id, build, tags, now); });
}

Result<int64_t> TemplateTable::remove_tags(const std::string& template_id, const std::vector<std::string>& tags) {
  if (tags.empty()) return 0;
  Sql sql("DELETE FROM template_tags WHERE template_id = ");
  sql.bind(template_id).add(" AND tag IN ").bind_list(tags);
  BJ_TRY(const Rows done, database_.write(sql.text(), sql.params()));
  return done.affected;
}

}  // namespace bj
