// The three kinds of sandbox configuration: reading a request's, filling in defaults, and Letta's choice among them
// when a request does not say which one it means.
//
// That choice is pydantic's "smart" union: of the models that the object is valid for, the one with most fields set
// wins; then one that needed no conversion; then the first of local, e2b, modal. Local and E2B count one field more
// than was sent, because they fill in `sandbox_dir` and `template` before reading. {"type": "modal", ...} decides
// without it.
#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "tools/field_errors.h"
#include "tools/requirement.h"

namespace bj {

enum class SandboxType { kLocal, kE2b, kModal };
std::string_view sandbox_type_name(SandboxType type);  // "local", "e2b", "modal"
std::optional<SandboxType> sandbox_type_named(std::string_view name);

// What fills the gaps. Both come from the settings.
struct SandboxDefaults {
  std::string local_directory;              // TOOL_EXEC_DIR, or ~/.letta/tool_execution_dir
  std::optional<std::string> e2b_template;  // E2B_SANDBOX_TEMPLATE_ID
};

struct SandboxConfigInput {
  SandboxType type = SandboxType::kLocal;
  boost::json::object full;   // with defaults, without nulls: what create and upsert store
  boost::json::object given;  // only what was set, without nulls: what an update stores. Both replace, never merge
};
using ConfigResult = tl::expected<SandboxConfigInput, FieldErrors>;

// `config` of a create or update request.
ConfigResult read_sandbox_config(const boost::json::value& config, const boost::json::array& loc,
                                 const SandboxDefaults& defaults);
// A configuration whose type is known: POST /local, or an upsert of a stored one (so that Modal's can change).
ConfigResult read_sandbox_config_as(SandboxType type, const boost::json::value& config, const boost::json::array& loc,
                                    const SandboxDefaults& defaults);
// What a type has when nobody configured it.
boost::json::object default_sandbox_config(SandboxType type, const SandboxDefaults& defaults);

// An update may not change the type of what is stored.
Result<void> check_same_type(SandboxType stored, SandboxType update);

// Stored configurations, typed. What is stored passed the readers above; what doesn't, is an error.
struct LocalConfig {
  std::string directory;
  bool use_venv = false;
  std::string venv_name = "venv";
  Requirements pip;
};
struct E2bConfig {
  int64_t timeout_s = 300;
  std::optional<std::string> template_id;  // the settings' one if they have any: Letta ignores the stored one
  std::vector<std::string> pip;
};
struct ModalConfig {
  int64_t timeout_s = 60;
  std::vector<std::string> pip;
  std::vector<std::string> npm;
  std::string language = "python";
};
Result<LocalConfig> local_config(const boost::json::object& stored, const SandboxDefaults& defaults);
Result<E2bConfig> e2b_config(const boost::json::object& stored, const SandboxDefaults& defaults);
Result<ModalConfig> modal_config(const boost::json::object& stored);

}  // namespace bj
