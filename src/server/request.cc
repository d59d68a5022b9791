#include "server/request.h"

#include <stdexcept>

namespace bj {
namespace {

constexpr std::pair<Method, const char*> kMethods[] = {
    {Method::kGet, "GET"},     {Method::kHead, "HEAD"},     {Method::kPost, "POST"},      {Method::kPut, "PUT"},
    {Method::kPatch, "PATCH"}, {Method::kDelete, "DELETE"}, {Method::kOptions, "OPTIONS"}};

}  // namespace

const char* name_of(Method method) {
  for (const auto& [known, name] : kMethods)
    if (known == method) return name;
  return "";
}

std::optional<Method> method_of(std::string_view name) {
  for (const auto& [method, known] : kMethods)
    if (name == known) return method;
  return std::nullopt;
}

const std::string* Parameters::find(std::string_view name) const {
  for (const auto& [known, value] : values_)
    if (known == name) return &value;
  return nullptr;
}

std::vector<std::string> Parameters::all(std::string_view name) const {
  std::vector<std::string> found;
  for (const auto& [known, value] : values_)
    if (known == name) found.push_back(value);
  return found;
}

const std::string& HttpRequest::parameter(std::string_view name) const {
  if (const std::string* value = path_parameters.find(name)) return *value;
  throw std::logic_error(std::string(route) + " has no parameter " + std::string(name));
}

}  // namespace bj
