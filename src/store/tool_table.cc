#include "store/tool_table.h"

#include <array>

#include "base/id.h"
#include "store/sql.h"
#include "store/tool_row.h"

namespace bj {
namespace {

// In the order of tool_of and of params_of.
constexpr std::array<std::string_view, 21> kColumns = {"id",
                                                       "organization_id",
                                                       "name",
                                                       "tool_type",
                                                       "description",
                                                       "source_type",
                                                       "source_code",
                                                       "json_schema",
                                                       "args_json_schema",
                                                       "tags",
                                                       "pip_requirements",
                                                       "npm_requirements",
                                                       "return_char_limit",
                                                       "default_requires_approval",
                                                       "enable_parallel_execution",
                                                       "metadata_",
                                                       "project_id",
                                                       "created_at",
                                                       "updated_at",
                                                       "created_by_id",
                                                       "last_updated_by_id"};

std::optional<bool> maybe_truth(const Row& row, size_t column) {
  if (row.is_null(column)) return std::nullopt;
  return row.truth(column);
}

std::array<Param, 21> params_of(const ToolRow& tool) {
  return {tool.id,
          tool.organization,
          tool.name,
          tool.tool_type,
          tool.description,
          tool.source_type,
          tool.source_code,
          tool.json_schema,
          tool.args_json_schema,
          tool.tags,
          tool.pip_requirements,
          tool.npm_requirements,
          tool.return_char_limit,
          tool.default_requires_approval,
          tool.enable_parallel_execution,
          tool.metadata,
          tool.project_id,
          tool.stamp.created_at,
          tool.stamp.updated_at,
          tool.stamp.created_by,
          tool.stamp.updated_by};
}

bool is_kept(std::string_view column) {
  return column == "id" || column == "organization_id" || column == "created_at" || column == "created_by_id";
}

// One statement, so that two who define the same tool at once both succeed and one of them is last.
std::string upsert_statement() {
  std::string places;
  std::string changes;
  for (size_t i = 0; i < kColumns.size(); i++) {
    const std::string column(kColumns[i]);
    places += (i ? ", $" : "$") + std::to_string(i + 1);
    if (is_kept(column) || column == "name") continue;
    if (!changes.empty()) changes += ", ";
    changes += column == "tags" ? "tags = CASE WHEN excluded.tags = '[]' THEN tools.tags ELSE excluded.tags END"
                                : column + " = excluded." + column;
  }
  return "INSERT INTO tools (" + tool_columns() + ") VALUES (" + places +
         ") ON CONFLICT (name, organization_id) DO UPDATE SET " + changes + " RETURNING " + tool_columns();
}

std::string update_statement() {
  std::string changes;
  for (size_t i = 0; i < kColumns.size(); i++) {
    if (kColumns[i] == "id" || kColumns[i] == "organization_id") continue;
    if (!changes.empty()) changes += ", ";
    changes += std::string(kColumns[i]) + " = $" + std::to_string(i + 1);
  }
  return "UPDATE tools SET " + changes + " WHERE id = $1 AND organization_id = $2";
}

Result<void> check_filter(const ToolFilter& filter) {
  for (const auto* list : {&filter.names, &filter.ids, &filter.types, &filter.excluded_types, &filter.tags})
    BJ_CHECK(check_search(filter.search, list->size()));
  return {};
}

// `pattern` outlives the statement.
void add_conditions(Sql& sql, const ToolFilter& filter, const std::string& pattern) {
  if (filter.name) sql.add(" AND name = ").bind(*filter.name);
  if (!filter.names.empty()) sql.add(" AND name IN ").bind_list(filter.names);
  if (!filter.ids.empty()) sql.add(" AND id IN ").bind_list(filter.ids);
  if (filter.search) sql.add(" AND LOWER(name) LIKE LOWER(").bind(pattern).add(") ESCAPE '\\'");
  if (!filter.types.empty()) sql.add(" AND tool_type IN ").bind_list(filter.types);
  if (!filter.excluded_types.empty()) sql.add(" AND tool_type NOT IN ").bind_list(filter.excluded_types);
  if (filter.project) sql.add(" AND (project_id IS NULL OR project_id = ").bind(*filter.project).add(")");
  add_any_tag(sql, filter.tags);
}

}  // namespace

std::string tool_columns(std::string_view prefix) {
  std::string text;
  for (const std::string_view column : kColumns) {
    if (!text.empty()) text += ", ";
    text += prefix;
    text += column;
  }
  return text;
}

ToolRow tool_of(const Row& row) {
  ToolRow tool;
  tool.id = row.text(0);
  tool.organization = row.text(1);
  tool.name = row.text(2);
  tool.tool_type = row.text(3);
  tool.description = row.maybe_text(4);
  tool.source_type = row.text(5);
  tool.source_code = row.maybe_text(6);
  tool.json_schema = row.maybe_text(7);
  tool.args_json_schema = row.maybe_text(8);
  tool.tags = row.text(9);
  tool.pip_requirements = row.maybe_text(10);
  tool.npm_requirements = row.maybe_text(11);
  tool.return_char_limit = row.integer(12);
  tool.default_requires_approval = maybe_truth(row, 13);
  tool.enable_parallel_execution = row.truth(14);
  tool.metadata = row.text(15);
  tool.project_id = row.maybe_text(16);
  tool.stamp = {row.integer(17), row.integer(18), row.maybe_text(19), row.maybe_text(20)};
  return tool;
}

Result<ToolRow> ToolTable::upsert(const Actor& actor, ToolRow tool) {
  if (tool.id.empty()) tool.id = new_id("tool");
  tool.organization = actor.organization;
  const int64_t now = now_us();
  tool.stamp = {now, now, actor.user, actor.user};
  static const std::string kSql = upsert_statement();
  BJ_TRY(const Rows rows, database_.write(kSql, params_of(tool)));
  return tool_of(rows.rows.at(0));
}

Result<ToolRow> ToolTable::get(const std::string& organization, const std::string& id) {
  static const std::string kSql = "SELECT " + tool_columns() + " FROM tools WHERE id = $1 AND organization_id = $2";
  BJ_TRY(Rows rows, database_.read(kSql, {id, organization}));
  BJ_TRY(const Row row, only_row(std::move(rows), "Tool", id));
  return tool_of(row);
}

Result<std::optional<ToolRow>> ToolTable::find_by_name(const std::string& organization, const std::string& name) {
  static const std::string kSql = "SELECT " + tool_columns() + " FROM tools WHERE name = $1 AND organization_id = $2";
  BJ_TRY(const Rows rows, database_.read(kSql, {name, organization}));
  if (rows.rows.empty()) return std::nullopt;
  return tool_of(rows.rows[0]);
}

Result<ToolRow> ToolTable::change(const Actor& actor, const std::string& id,
                                  const std::function<Result<void>(ToolRow&)>& edit) {
  return database_.transact_value<ToolRow>([&](Transaction& transaction) -> Result<ToolRow> {
    BJ_TRY(Rows rows,
           transaction.run("SELECT " + tool_columns() + " FROM tools WHERE id = $1 AND organization_id = $2" +
                               std::string(for_update(transaction)),
                           {id, actor.organization}));
    BJ_TRY(const Row row, only_row(std::move(rows), "Tool", id));
    const ToolRow before = tool_of(row);
    ToolRow tool = before;
    BJ_CHECK(edit(tool));
    tool.id = before.id;
    tool.organization = before.organization;
    tool.stamp = {before.stamp.created_at, now_us(), before.stamp.created_by, actor.user};
    static const std::string kSql = update_statement();
    BJ_CHECK(transaction.run(kSql, params_of(tool)));
    return tool;
  });
}

Result<ToolRow> ToolTable::remove(const std::string& organization, const std::string& id) {
  BJ_TRY(Rows rows,
         database_.write("DELETE FROM tools WHERE id = $1 AND organization_id = $2 RETURNING " + tool_columns(),
                         {id, organization}));
  BJ_TRY(const Row row, only_row(std::move(rows), "Tool", id));
  return tool_of(row);
}

Result<std::vector<ToolRow>> ToolTable::list(const std::string& organization, const ToolFilter& filter,
                                             const Page& page, ToolOrderBy order_by) {
  BJ_CHECK(check_filter(filter));
  const std::string pattern = like_pattern(filter.search.value_or(""));
  Sql sql("SELECT " + tool_columns() + " FROM tools WHERE organization_id = ");
  sql.bind(organization);
  add_conditions(sql, filter, pattern);
  const Listing listing{"Tool", "tools", order_by == ToolOrderBy::kName ? "name" : "created_at"};
  BJ_TRY(const std::vector<Row> rows, read_page(database_, std::move(sql), listing, organization, page));
  std::vector<ToolRow> tools;
  tools.reserve(rows.size());
  for (const Row& row : rows) tools.push_back(tool_of(row));
  return tools;
}

Result<int64_t> ToolTable::count(const std::string& organization, const ToolFilter& filter) {
  BJ_CHECK(check_filter(filter));
  const std::string pattern = like_pattern(filter.search.value_or(""));
  Sql sql("SELECT COUNT(*) FROM tools WHERE organization_id = ");
  sql.bind(organization);
  add_conditions(sql, filter, pattern);
  BJ_TRY(const Rows rows, database_.read(sql.text(), sql.params()));
  return rows.rows.at(0).integer(0);
}

}  // namespace bj
