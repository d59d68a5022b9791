#include "egress/json_parts.h"

#include <algorithm>

#include "egress/clear_path.h"
#include "egress/target_text.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr size_t kMaxItems = 100;
constexpr size_t kMaxPath = 1024;

bool is_method(std::string_view text) {
  return !text.empty() && text.size() <= 32 &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= 'A' && c <= 'Z') || c == '-'; });
}

Result<void> check_path_pattern(std::string_view pattern, const std::string& where) {
  const std::string_view fixed = pattern.ends_with("/*") ? pattern.substr(0, pattern.size() - 1) : pattern;
  if (pattern.size() > kMaxPath || fixed.find_first_of("*?#") != fixed.npos || clear_path(fixed) != fixed)
    return refused(where, "\"" + shown(pattern) +
                              "\" is no path: write \"/exact/path\" or \"/prefix/*\", without query, dot segments, "
                              "doubled slashes and needless escapes");
  return {};
}

}  // namespace

tl::unexpected<Error> refused(const std::string& where, const std::string& what) {
  return fail(Code::kInvalid, where + ": " + what);
}

std::string shown(std::string_view key) {
  std::string safe;
  for (const char c : key.substr(0, 40)) safe += c >= ' ' && c < 0x7F && c != '"' ? c : '?';
  return safe;
}

Result<void> check_keys(const json::object& object, std::initializer_list<std::string_view> known,
                        const std::string& where) {
  for (const auto& item : object) {
    if (std::find(known.begin(), known.end(), std::string_view(item.key())) != known.end()) continue;
    std::string list;
    for (const std::string_view key : known) list += (list.empty() ? "" : ", ") + std::string(key);
    return refused(where, "there is no \"" + shown(item.key()) + "\" here; known are " + list);
  }
  return {};
}

Result<std::vector<std::string>> strings_of(const json::value& value, const std::string& where) {
  std::vector<std::string> strings;
  const auto add = [&](const json::value& item) {
    if (item.is_string()) strings.emplace_back(item.get_string());
    if (item.is_int64()) strings.push_back(std::to_string(item.get_int64()));
    return item.is_string() || item.is_int64();
  };
  if (value.is_null()) return strings;
  if (!value.is_array()) {
    if (!add(value)) return refused(where, "must be a text or a list of texts");
    return strings;
  }
  if (value.get_array().size() > kMaxItems)
    return refused(where, "has more than " + std::to_string(kMaxItems) + " entries: make it several");
  for (const json::value& item : value.get_array()) {
    if (!add(item)) return refused(where, "must hold texts only");
  }
  return strings;
}

Result<std::vector<Target>> read_targets(const json::value& value, const std::string& where) {
  BJ_TRY(const std::vector<std::string> texts, strings_of(value, where));
  std::vector<Target> targets;
  for (const std::string& text : texts) {
    auto target = parse_target_text(text);
    if (!target) return refused(where, target.error().what);
    targets.push_back(std::move(*target));
  }
  return targets;
}

Result<std::vector<PortRange>> read_ports(const json::value& value, const std::string& where) {
  BJ_TRY(const std::vector<std::string> texts, strings_of(value, where));
  std::vector<PortRange> ports;
  for (const std::string& text : texts) {
    auto range = parse_port_range(text);
    if (!range) return refused(where, range.error().what);
    ports.push_back(*range);
  }
  return ports;
}

Result<void> read_request_part(const json::object& object, const std::string& where,
                               std::optional<std::vector<std::string>>& methods,
                               std::optional<std::vector<std::string>>& paths) {
  if (const json::value* list = object.if_contains("methods")) {
    BJ_TRY(methods, strings_of(*list, where + ".methods"));
    for (const std::string& method : *methods) {
      if (!is_method(method))
        return refused(where + ".methods", "\"" + shown(method) + "\" is no method: write GET, POST, ... in capitals");
    }
  }
  if (const json::value* list = object.if_contains("paths")) {
    BJ_TRY(paths, strings_of(*list, where + ".paths"));
    for (const std::string& path : *paths) BJ_CHECK(check_path_pattern(path, where + ".paths"));
  }
  return {};
}

}  // namespace bj
