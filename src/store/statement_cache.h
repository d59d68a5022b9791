// Prepared statements of one connection, by their SQL. Bounded: when full, the one unused for longest goes.
#pragma once

#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace bj {

template <class Statement>
class StatementCache {
 public:
  static constexpr size_t kMost = 200;

  Statement* find(std::string_view sql) {
    const auto found = by_sql_.find(sql);
    if (found == by_sql_.end()) return nullptr;
    newest_first_.splice(newest_first_.begin(), newest_first_, found->second);
    return &found->second->second;
  }
  Statement* add(std::string_view sql, Statement statement) {
    (void)make_room();
    newest_first_.emplace_front(std::string(sql), std::move(statement));
    by_sql_.emplace(newest_first_.front().first, newest_first_.begin());
    return &newest_first_.front().second;
  }
  // The statement that had to go for it, if any.
  std::optional<Statement> make_room() {
    if (by_sql_.size() < kMost) return std::nullopt;
    std::optional<Statement> oldest(std::move(newest_first_.back().second));
    by_sql_.erase(newest_first_.back().first);
    newest_first_.pop_back();
    return oldest;
  }
  void clear() {
    by_sql_.clear();
    newest_first_.clear();
  }

 private:
  using List = std::list<std::pair<std::string, Statement>>;
  List newest_first_;
  std::unordered_map<std::string_view, typename List::iterator> by_sql_;  // keys lie in the list
};

}  // namespace bj
