// HTTP header fields in their order; names compare without case.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bj {

bool equal_ignoring_case(std::string_view left, std::string_view right);

class Headers {
 public:
  using Field = std::pair<std::string, std::string>;

  Headers() = default;
  Headers(std::initializer_list<Field> fields) : fields_(fields) {}

  // The first value of that name, empty if there is none.
  std::string_view get(std::string_view name) const;
  bool has(std::string_view name) const { return count(name) != 0; }
  size_t count(std::string_view name) const;
  void add(std::string_view name, std::string_view value) { fields_.emplace_back(name, value); }
  // Replaces every field of that name.
  void set(std::string_view name, std::string_view value);
  void reserve(size_t count) { fields_.reserve(count); }
  size_t size() const { return fields_.size(); }

  auto begin() const { return fields_.begin(); }
  auto end() const { return fields_.end(); }

 private:
  std::vector<Field> fields_;
};

// Whether a comma-separated value such as Connection's holds `token`.
bool has_token(std::string_view list, std::string_view token);

}  // namespace bj
