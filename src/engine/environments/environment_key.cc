#include "engine/environments/environment_key.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <optional>
#include <string_view>

#include "engine/import/import_digest.h"
#include "engine/import/import_entry.h"

namespace bj {
namespace {

constexpr int kFormat = 1;  // counted up when what a builder makes of the same request changes
constexpr size_t kMostRequirements = 200, kLongestRequirement = 200;
constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::string_view kDigits = "0123456789";

bool is_of(char c, std::string_view extra) {
  return kLetters.find(c) != std::string_view::npos || kDigits.find(c) != std::string_view::npos ||
         extra.find(c) != std::string_view::npos;
}

bool all_of(std::string_view text, std::string_view extra) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) { return is_of(c, extra); });
}

tl::unexpected<Error> refused(std::string_view requirement, const std::string& why) {
  return fail(Code::kInvalid, "requirement \"" + printable(requirement, 80) + "\" is refused: " + why);
}

// What is wrong with it whatever the language, in words that help.
std::optional<std::string> general_fault(std::string_view text) {
  if (text.empty()) return "it is empty";
  if (text.size() > kLongestRequirement) return fmt::format("it is longer than {} characters", kLongestRequirement);
  if (text.front() == '-') return "it begins with \"-\", and options of the installer can't be given";
  if (text.find_first_of(" \t\r\n\v\f") != std::string_view::npos) return "it contains white space";
  if (text.find("://") != std::string_view::npos || text.starts_with("git+") || text.starts_with("file:")) {
    return "packages come from the package index by name, not from a URL";
  }
  if (text.find_first_of(";&|$`'()\\{}?#%") != std::string_view::npos) {
    return "it contains a character that no package name or version has";
  }
  for (const std::string_view ending : {".whl", ".zip", ".tgz", ".tar", ".tar.gz", ".tar.bz2", ".tar.xz"}) {
    if (text.ends_with(ending)) return "packages come from the package index by name, not from a file";
  }
  return {};
}

// As package indexes compare names: lower case, runs of "-", "_" and "." are one dash.
std::string canonical_name(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const bool separator = c == '-' || c == '_' || c == '.';
    if (separator && out.ends_with('-')) continue;
    out += separator ? '-' : (c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
  }
  return out;
}

bool is_python_name(std::string_view name) {
  return all_of(name, "._-") && is_of(name.front(), "") && is_of(name.back(), "");
}

void sort_out_doubles(std::vector<std::string>& items) {
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
}

// The items between commas, sorted and without doubles.
std::vector<std::string> items_of(std::string_view list) {
  std::vector<std::string> items;
  for (size_t from = 0; from <= list.size();) {
    const size_t comma = std::min(list.find(',', from), list.size());
    items.emplace_back(list.substr(from, comma - from));
    from = comma + 1;
  }
  sort_out_doubles(items);
  return items;
}

bool is_version_clause(std::string_view clause) {
  for (const std::string_view sign : {"===", "==", ">=", "<=", "!=", "~=", ">", "<"}) {
    if (clause.starts_with(sign)) return all_of(clause.substr(sign.size()), ".*+!_-");
  }
  return false;
}

Result<std::string> python_requirement(std::string_view text) {
  const auto not_understood = [&] {
    return refused(text, "write NAME, NAME==1.2, NAME[extra] or NAME>=1,<2; paths and URLs can't be given");
  };
  const size_t end = std::min(text.find_first_of("[=<>!~"), text.size());
  if (!is_python_name(text.substr(0, end))) return not_understood();
  std::string out = canonical_name(text.substr(0, end));
  std::string_view rest = text.substr(end);
  if (rest.starts_with('[')) {
    const size_t close = rest.find(']');
    if (close == std::string_view::npos) return not_understood();
    std::vector<std::string> extras = items_of(rest.substr(1, close - 1));
    for (std::string& extra : extras) {
      if (!is_python_name(extra)) return not_understood();
      extra = canonical_name(extra);
    }
    sort_out_doubles(extras);
    out += fmt::format("[{}]", fmt::join(extras, ","));
    rest.remove_prefix(close + 1);
  }
  if (rest.empty()) return out;
  const std::vector<std::string> clauses = items_of(rest);
  if (!std::all_of(clauses.begin(), clauses.end(), is_version_clause)) return not_understood();
  return out + fmt::format("{}", fmt::join(clauses, ","));
}

bool is_npm_part(std::string_view part) { return all_of(part, "._~-") && is_of(part.front(), "~"); }

Result<std::string> npm_requirement(std::string_view text) {
  const size_t at = text.find('@', 1);
  const std::string_view name = text.substr(0, std::min(at, text.size()));
  const size_t slash = name.find('/');
  const bool scoped = name.starts_with('@') && slash != std::string_view::npos;
  const bool plain =
      scoped ? is_npm_part(name.substr(1, slash - 1)) && is_npm_part(name.substr(slash + 1)) : is_npm_part(name);
  const std::string why = "write NAME, @scope/NAME, NAME@1.2 or NAME@tag; paths and URLs can't be given";
  if (!plain) return refused(text, why);
  if (at == std::string_view::npos) return std::string(name);
  std::string_view version = text.substr(at + 1);
  if (version.size() >= 2 && version.front() == '"' && version.back() == '"') {
    version = version.substr(1, version.size() - 2);
  }
  if (!all_of(version, ".+_^~<>=*-")) return refused(text, why);
  return fmt::format("{}@{}", name, version);
}

// Where an index is, without who asks it.
std::string place_of(const std::string& value) {
  const size_t scheme = value.find("://");
  if (scheme == std::string::npos) return value;
  const size_t host = scheme + 3;
  const size_t at = value.rfind('@', value.find('/', host));
  return at == std::string::npos || at < host ? value : value.substr(0, host) + value.substr(at + 1);
}

boost::json::array places_of(const IndexSettings& index, Language language) {
  boost::json::array places;
  const auto add = [&](std::string_view text) {
    for (size_t from = 0; from < text.size();) {
      const size_t end = std::min(text.find_first_of(" \t\n", from), text.size());
      if (end > from) places.emplace_back(place_of(std::string(text.substr(from, end - from))));
      from = end + 1;
    }
  };
  if (language == Language::kPython) {
    for (const char* name : {"PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"}) {
      if (const auto found = index.variables.find(name); found != index.variables.end()) add(found->second);
    }
    return places;
  }
  if (const auto found = index.variables.find("npm_config_registry"); found != index.variables.end()) {
    add(found->second);
  }
  for (size_t from = 0; from < index.npmrc.size();) {
    const size_t end = std::min(index.npmrc.find('\n', from), index.npmrc.size());
    const std::string line = index.npmrc.substr(from, end - from);
    if (line.starts_with("registry=") || line.find(":registry=") != std::string::npos) add(line);
    from = end + 1;
  }
  return places;
}

// A template of the same name may be another one by now; `base` has its stamp in the path.
std::string identity_of(const TemplateLayer& layer) {
  struct stat info{};
  if (layer.target != "/" || ::stat(layer.path.c_str(), &info) != 0) return layer.path;
  return fmt::format("{}:{}:{}", layer.path, info.st_ino, info.st_mtim.tv_sec);
}

}  // namespace

Result<std::vector<std::string>> normalize_requirements(Language language,
                                                        const std::vector<std::string>& requirements) {
  if (requirements.size() > kMostRequirements) {
    return fail(Code::kInvalid,
                fmt::format("{} requirements are too many: at most {}", requirements.size(), kMostRequirements));
  }
  std::vector<std::string> out;
  for (const std::string& text : requirements) {
    if (const auto fault = general_fault(text)) return refused(text, *fault);
    BJ_TRY(std::string normal, language == Language::kPython ? python_requirement(text) : npm_requirement(text));
    out.push_back(std::move(normal));
  }
  sort_out_doubles(out);
  return out;
}

std::string environment_key(Language language, const Template& image, const std::string& interpreter,
                            const std::vector<std::string>& normalized, const IndexSettings& index) {
  boost::json::array layers, requirements;
  for (const TemplateLayer& layer : image.layers) layers.emplace_back(identity_of(layer));
  for (const std::string& requirement : normalized) requirements.emplace_back(requirement);
  const boost::json::object all{{"format", kFormat},
                                {"language", language == Language::kPython ? "python" : "typescript"},
                                {"template", image.name},
                                {"layers", std::move(layers)},
                                {"interpreter", language == Language::kPython ? interpreter : "node"},
                                {"requirements", std::move(requirements)},
                                {"index", places_of(index, language)}};
  return sha256_hex(boost::json::serialize(all));
}

}  // namespace bj
