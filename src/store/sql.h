// Small helpers that the tables share: a statement that grows, pages of a list, the time of a row.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "store/database.h"
#include "store/rows.h"

namespace bj {

int64_t now_us();

// SQL text with its parameters, put together piece by piece. Texts are pointed at: they must outlive the statement.
class Sql {
 public:
  explicit Sql(std::string text) : text_(std::move(text)) {}
  Sql& add(std::string_view text) {
    text_ += text;
    return *this;
  }
  Sql& bind(Param param) {
    params_.push_back(param);
    text_ += "$" + std::to_string(params_.size());
    return *this;
  }
  // "($1, $2, $3)"; the list must not be empty.
  Sql& bind_list(const std::vector<std::string>& list);
  const std::string& text() const { return text_; }
  Params params() const { return params_; }

 private:
  std::string text_;
  std::vector<Param> params_;
};

// What a list is of.
struct Listing {
  std::string_view model;  // "Tool", for messages
  std::string_view table;
  std::string_view order_column = "created_at";
};

// Ends a SELECT … WHERE organization_id = … with the page's conditions, order and limit, and runs it. A cursor must be
// a row of that organization.
Result<std::vector<Row>> read_page(Database& database, Sql select, const Listing& listing,
                                   const std::string& organization, const Page& page);

// " AND (one of the tags is in the column `tags`)", a JSON array of texts; each tag as it stands in JSON, with its
// quotes. No tags: nothing. They outlive the statement.
void add_any_tag(Sql& sql, std::span<const std::string> tags);

// A search that costs more than anyone means is kInvalid: a long text, or a long list to compare with.
Result<void> check_search(const MaybeText& text, size_t list_size = 0);

// "%text%" with LIKE's own characters escaped by a backslash.
std::string like_pattern(std::string_view text);

// Locks the rows of a SELECT until the transaction ends; SQLite's writer is alone anyway.
inline std::string_view for_update(const Transaction& transaction) {
  return transaction.engine() == DatabaseKind::kPostgres ? " FOR UPDATE" : "";
}

// "<Model> not found with id='…'"
tl::unexpected<Error> fail_not_found(std::string_view model, std::string_view id);
// The only row, or not found.
Result<Row> only_row(Rows rows, std::string_view model, std::string_view id);

}  // namespace bj
