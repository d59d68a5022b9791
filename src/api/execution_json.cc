#include "api/execution_json.h"

#include <array>

namespace bj {
namespace {

namespace json = boost::json;

struct NamedType {
  std::string_view type, name;
};
// clang-format off
constexpr std::array<NamedType, 15> kNames = {{
    {"text/plain", "text"},               {"text/html", "html"},
    {"text/markdown", "markdown"},        {"image/svg+xml", "svg"},
    {"image/png", "png"},                 {"image/jpeg", "jpeg"},
    {"application/pdf", "pdf"},           {"text/latex", "latex"},
    {"application/json", "json"},         {"application/javascript", "javascript"},
    {"application/vnd.belljar.data+json", "data"}, {"application/vnd.belljar.chart+json", "chart"},
    {"e2b/data", "data"},                 {"e2b/chart", "chart"},
    {"text/javascript", "javascript"}}};
// clang-format on

}  // namespace

json::object representations_json(json::object by_type) {
  json::object out, extra;
  for (auto& item : by_type) {
    std::string_view name;
    for (const NamedType& one : kNames) {
      if (item.key() == one.type) name = one.name;
    }
    if (name.empty()) {
      extra[item.key()] = std::move(item.value());
    } else {
      out[name] = std::move(item.value());
    }
  }
  out["extra"] = std::move(extra);
  return out;
}

json::object execution_error_json(const ExecutionError& error) {
  return {{"name", error.name}, {"value", error.value}, {"traceback", error.traceback}};
}

}  // namespace bj
