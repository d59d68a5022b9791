#include "store/sql.h"

#include <algorithm>
#include <chrono>

namespace bj {
namespace {

constexpr size_t kLongestSearch = 1000;
constexpr size_t kMostInList = 1000;

// The order column's value of the row that a cursor names.
Result<Value> cursor_value(Database& database, const Listing& listing, const std::string& organization,
                           const std::string& id) {
  const std::string sql = "SELECT " + std::string(listing.order_column) + " FROM " + std::string(listing.table) +
                          " WHERE id = $1 AND organization_id = $2";
  BJ_TRY(const Rows found, database.read(sql, {id, organization}));
  if (found.rows.empty()) return fail(Code::kNotFound, "No " + std::string(listing.model) + " found with id " + id);
  return found.rows[0].value(0);
}

}  // namespace

int64_t now_us() {
  using namespace std::chrono;
  return duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
}

Sql& Sql::bind_list(const std::vector<std::string>& list) {
  text_ += "(";
  for (size_t i = 0; i < list.size(); i++) {
    if (i > 0) text_ += ", ";
    bind(list[i]);
  }
  text_ += ")";
  return *this;
}

Result<std::vector<Row>> read_page(Database& database, Sql select, const Listing& listing,
                                   const std::string& organization, const Page& page) {
  if (page.limit && *page.limit < 0) return fail(Code::kInvalid, "limit must not be negative");
  const std::string column(listing.order_column);
  const std::string place = "(" + column + ", " + std::string(listing.table) + ".id)";
  Value after;
  Value before;
  const bool ascending = page.order == Order::kAscending;
  if (page.after) {
    BJ_TRY(after, cursor_value(database, listing, organization, *page.after));
    select.add(" AND " + place + (ascending ? " > (" : " < ("));
    select.bind(param_of(after)).add(", ").bind(*page.after).add(")");
  }
  if (page.before) {
    BJ_TRY(before, cursor_value(database, listing, organization, *page.before));
    select.add(" AND " + place + (ascending ? " < (" : " > ("));
    select.bind(param_of(before)).add(", ").bind(*page.before).add(")");
  }
  const bool from_the_end = page.before && !page.after;
  const std::string direction = ascending != from_the_end ? " ASC" : " DESC";
  select.add(" ORDER BY " + column + direction + ", " + std::string(listing.table) + ".id" + direction);
  if (page.limit) select.add(" LIMIT ").bind(*page.limit);
  BJ_TRY(Rows found, database.read(select.text(), select.params()));
  if (from_the_end) std::reverse(found.rows.begin(), found.rows.end());
  return std::move(found.rows);
}

// Quotes inside of a text are escaped, so a tag with its quotes is found as a whole only. REPLACE, unlike LIKE, minds
// the case in both databases.
void add_any_tag(Sql& sql, std::span<const std::string> tags) {
  const char* joint = " AND (";
  for (const std::string& tag : tags) {
    sql.add(joint).add("REPLACE(tags, ").bind(tag).add(", '') <> tags");
    joint = " OR ";
  }
  if (!tags.empty()) sql.add(")");
}

Result<void> check_search(const MaybeText& text, size_t list_size) {
  if (text && text->size() > kLongestSearch) return fail(Code::kInvalid, "search text is longer than 1000 bytes");
  if (list_size > kMostInList) return fail(Code::kInvalid, "more than 1000 names, ids, types or tags in one request");
  return {};
}

std::string like_pattern(std::string_view text) {
  std::string pattern = "%";
  for (const char c : text) {
    if (c == '%' || c == '_' || c == '\\') pattern += '\\';
    pattern += c;
  }
  return pattern + "%";
}

tl::unexpected<Error> fail_not_found(std::string_view model, std::string_view id) {
  return fail(Code::kNotFound, std::string(model) + " not found with id='" + std::string(id) + "'");
}

Result<Row> only_row(Rows rows, std::string_view model, std::string_view id) {
  if (rows.rows.empty()) return fail_not_found(model, id);
  return std::move(rows.rows[0]);
}

}  // namespace bj
