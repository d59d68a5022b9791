#include "tools/requirement.h"

#include <algorithm>

#include "tools/model_reader.h"
#include "tools/python_text.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr size_t kMaxRequirement = 256;

bool letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

bool all_of(std::string_view text, std::string_view also) {
  return std::all_of(text.begin(), text.end(),
                     [also](char c) { return letter_or_digit(c) || also.find(c) != also.npos; });
}

tl::unexpected<Error> refused(const std::string& text, const std::string& why) {
  return fail(Code::kInvalid, "the requirement " + python_repr(std::string_view(text)) + " is refused: " + why);
}

// name[extra,...] of a pip requirement; what follows is its version.
Result<void> check_pip(const std::string& text) {
  const size_t end = std::min(text.find_first_of("=<>!~;[ "), text.size());
  const std::string_view name = std::string_view(text).substr(0, end);
  if (name.empty() || !letter_or_digit(name.front()) || !letter_or_digit(name.back()) || !all_of(name, "-_.")) {
    return refused(text, "a package's name is letters, digits, '.', '_' and '-'");
  }
  // Markers and versions; no '@' (a URL), no '/' (a path), nothing that a shell or pip would read in another way.
  if (!all_of(std::string_view(text).substr(end), "-_.=<>!~;[], '\"*+()")) {
    return refused(text, "after the name come a version or a marker only");
  }
  if (text.find(" -") != text.npos) return refused(text, "options are not allowed");
  return {};
}

Result<void> check_npm(const std::string& text) {
  std::string_view rest = text;
  if (rest.starts_with('@')) {
    const size_t slash = rest.find('/');
    if (slash == rest.npos || slash < 2 || !all_of(rest.substr(1, slash - 1), "-_.")) {
      return refused(text, "a scoped package is @scope/name");
    }
    rest.remove_prefix(slash + 1);
  }
  const size_t at = std::min(rest.find('@'), rest.size());
  const std::string_view name = rest.substr(0, at);
  if (name.empty() || name.front() == '-' || name.front() == '.' || !all_of(name, "-_.")) {
    return refused(text, "a package's name is letters, digits, '.', '_' and '-'");
  }
  const std::string_view version = rest.substr(std::min(at + 1, rest.size()));
  if (!all_of(version, "-_.^~<>=|* +")) return refused(text, "after '@' comes a version or a tag, not a URL or a path");
  if (version.starts_with('-') || version.find(" --") != version.npos) return refused(text, "options are not allowed");
  return {};
}

}  // namespace

Requirement read_requirement(const json::value& input, const json::array& loc, FieldErrors& errors) {
  ModelReader reader(input, loc, errors);
  Requirement requirement;
  requirement.name = reader.string("name", 1);
  requirement.version = reader.optional_string("version");
  return requirement;
}

Requirements read_requirements(const json::value& input, const json::array& loc, FieldErrors& errors) {
  Requirements requirements;
  const json::array* items = input.if_array();
  if (items == nullptr) {
    errors.push_back({"list_type", loc, "Input should be a valid list", input, ""});
    return requirements;
  }
  for (size_t i = 0; i < items->size() && !are_enough(errors); ++i) {
    requirements.push_back(read_requirement((*items)[i], deeper(loc, static_cast<int64_t>(i)), errors));
  }
  return requirements;
}

std::string requirement_text(PackageKind kind, const Requirement& requirement) {
  if (!requirement.version || requirement.version->empty()) return requirement.name;
  if (kind == PackageKind::kPip) return requirement.name + "==" + *requirement.version;
  return requirement.name + "@\"" + *requirement.version + "\"";
}

std::string requirements_repr(PackageKind kind, const Requirements& requirements) {
  const char* model = kind == PackageKind::kPip ? "PipRequirement" : "NpmRequirement";
  std::string text = "[";
  for (const Requirement& requirement : requirements) {
    if (text.size() > 1) text += ", ";
    text += std::string(model) + "(name=" + python_repr(std::string_view(requirement.name)) +
            ", version=" + (requirement.version ? python_repr(std::string_view(*requirement.version)) : "None") + ")";
  }
  return text + "]";
}

json::array requirements_json(const Requirements& requirements) {
  json::array items;
  for (const Requirement& requirement : requirements) {
    json::object item{{"name", requirement.name}};
    if (requirement.version) item["version"] = *requirement.version;
    items.push_back(std::move(item));
  }
  return items;
}

Result<void> check_requirement(PackageKind kind, const std::string& text) {
  if (text.empty()) return refused(text, "it is empty");
  if (text.size() > kMaxRequirement) return refused(text.substr(0, 40) + "...", "it is too long");
  if (text.front() == '-') return refused(text, "options are not allowed");
  return kind == PackageKind::kPip ? check_pip(text) : check_npm(text);
}

Result<std::string> install_argument(PackageKind kind, const Requirement& requirement) {
  const std::string joint = kind == PackageKind::kPip ? "==" : "@";
  const bool bare = !requirement.version || requirement.version->empty();
  std::string text = bare ? requirement.name : requirement.name + joint + *requirement.version;
  BJ_CHECK(check_requirement(kind, text));
  return text;
}

}  // namespace bj
