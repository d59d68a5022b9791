// Settings of the tool service under Letta's names: environment over config file over default. Every value remembers
// where it came from, for `belljar config show`.
//
// Names count in any case. The empty string is a value: E2B_API_KEY= means "no key" even if the file has one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "tools/sandbox_config.h"

namespace bj {

template <class T>
struct Setting {
  T value{};
  std::string origin = "default";  // or "environment E2B_API_KEY", or "config.toml:12"
  const T& operator*() const { return value; }
};
using TextSetting = Setting<std::optional<std::string>>;

struct ToolSettings {
  TextSetting e2b_api_key;
  TextSetting e2b_template_id;
  TextSetting modal_token_id;
  TextSetting modal_token_secret;
  TextSetting exec_dir;
  Setting<double> sandbox_timeout_s{180.0};
  TextSetting venv_name;
  Setting<bool> autoreload_venv{true};
  TextSetting orchestrator_endpoint;  // the credentials webhook is a path below it
  TextSetting orchestrator_key;
  TextSetting credentials_webhook;  // the webhook's whole URL
  TextSetting credentials_key;
  TextSetting encryption_key;

  SandboxType sandbox_type() const;    // e2b with an E2B key, else local; never modal
  bool modal_sandbox_enabled() const;  // both Modal tokens
  // The defaults of sandbox configurations; `home` is the home directory of the server's user.
  SandboxDefaults sandbox_defaults(const std::string& home) const;
};

// One value from outside, with its origin in words.
struct GivenSetting {
  std::string name;
  std::string value;
  std::string origin;
};

bool is_tool_setting(std::string_view name);  // upper-case, aliases too
// The last of that name, written in any case: it counts. nullptr: none.
const GivenSetting* find_setting(const std::vector<GivenSetting>& given, std::string_view name);

// The process's environment as such; `environment` is a null-terminated list of NAME=value.
std::vector<GivenSetting> environment_settings(const char* const* environment);

// kLettaOnly reads exactly the names that Letta reads; kWithAliases also LETTA_TOOL_EXECUTION_DIR and the others that
// its documentation mentions.
enum class SettingNames { kLettaOnly, kWithAliases };

// A value that can't be read is an error that names it and its origin, and so is an unknown name in `file` (the
// environment is full of names that are not ours).
Result<ToolSettings> read_tool_settings(const std::vector<GivenSetting>& environment,
                                        const std::vector<GivenSetting>& file,
                                        SettingNames names = SettingNames::kWithAliases);

struct ShownSetting {
  std::string name;
  std::string value;  // secrets as ****, unset ones empty
  std::string origin;
};
std::vector<ShownSetting> shown_settings(const ToolSettings& settings);

}  // namespace bj
