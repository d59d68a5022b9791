// Packages that a tool or a sandbox configuration asks for. The model takes any name, as Letta's does; what may really
// reach pip or npm is decided by check_requirement() at the point of installing.
#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "tools/field_errors.h"

namespace bj {

enum class PackageKind { kPip, kNpm };

struct Requirement {
  std::string name;
  std::optional<std::string> version;
};
using Requirements = std::vector<Requirement>;

// One requirement object: name (at least one character), version or null. Unknown keys are ignored.
Requirement read_requirement(const boost::json::value& input, const boost::json::array& loc, FieldErrors& errors);
// A list of them; the type error is pydantic's for anything but a list.
Requirements read_requirements(const boost::json::value& input, const boost::json::array& loc, FieldErrors& errors);

// requests==2.31.0, lodash@"^4.17.0"; the bare name when the version is empty.
std::string requirement_text(PackageKind kind, const Requirement& requirement);
// [PipRequirement(name='requests', version='2.0')], which hashes are taken over.
std::string requirements_repr(PackageKind kind, const Requirements& requirements);
// Without absent versions.
boost::json::array requirements_json(const Requirements& requirements);

// Refuses what is not a plain package from the index: options, URLs, paths, shell characters. `text` is one entry as
// pip ("requests==2.31.0", "uvicorn[standard]>=0.2; python_version>'3.8'") or npm ("@scope/name@^1.0") reads it.
Result<void> check_requirement(PackageKind kind, const std::string& text);
// The argument for the installer's command line (no quotes: there is no shell), if it is safe.
Result<std::string> install_argument(PackageKind kind, const Requirement& requirement);

}  // namespace bj
