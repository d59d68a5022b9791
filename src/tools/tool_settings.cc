#include "tools/tool_settings.h"

#include <algorithm>
#include <variant>

#include "tools/lax_values.h"
#include "tools/python_text.h"

namespace bj {
namespace {

namespace json = boost::json;

using Field = std::variant<TextSetting ToolSettings::*, Setting<double> ToolSettings::*, Setting<bool> ToolSettings::*>;
enum class Shown { kPlain, kMasked };

struct Description {
  std::string_view name;                  // the one that is shown
  std::vector<std::string_view> aliases;  // in order of precedence, after the name
  Field field;
  Shown shown = Shown::kPlain;
};

const std::vector<Description>& descriptions() {
  using S = ToolSettings;
  static const std::vector<Description> list = {
      {"E2B_API_KEY", {}, &S::e2b_api_key, Shown::kMasked},
      {"E2B_SANDBOX_TEMPLATE_ID", {}, &S::e2b_template_id},
      {"MODAL_TOKEN_ID", {}, &S::modal_token_id, Shown::kMasked},
      {"MODAL_TOKEN_SECRET", {}, &S::modal_token_secret, Shown::kMasked},
      {"TOOL_EXEC_DIR", {"LETTA_TOOL_EXECUTION_DIR", "LETTA_TOOL_SANDBOX_DIR"}, &S::exec_dir},
      {"TOOL_SANDBOX_TIMEOUT", {"LETTA_TOOL_SANDBOX_TIMEOUT"}, &S::sandbox_timeout_s},
      {"TOOL_EXEC_VENV_NAME", {"LETTA_TOOL_SANDBOX_VENV_NAME"}, &S::venv_name},
      {"TOOL_EXEC_AUTORELOAD_VENV", {}, &S::autoreload_venv},
      {"STEP_ORCHESTRATOR_ENDPOINT", {}, &S::orchestrator_endpoint},
      {"STEP_COMPLETE_KEY", {}, &S::orchestrator_key, Shown::kMasked},
      {"SANDBOX_CREDENTIALS_WEBHOOK", {}, &S::credentials_webhook},
      {"SANDBOX_CREDENTIALS_KEY", {}, &S::credentials_key, Shown::kMasked},
      {"LETTA_ENCRYPTION_KEY", {"BELLJAR_ENCRYPTION_KEY"}, &S::encryption_key, Shown::kMasked},
  };
  return list;
}

std::string upper(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return result;
}

const GivenSetting* find(const std::vector<GivenSetting>& given, const Description& setting, SettingNames names) {
  if (const GivenSetting* found = find_setting(given, setting.name)) return found;
  if (names == SettingNames::kLettaOnly) return nullptr;
  for (const std::string_view alias : setting.aliases) {
    if (const GivenSetting* found = find_setting(given, alias)) return found;
  }
  return nullptr;
}

tl::unexpected<Error> unreadable(const GivenSetting& given, const char* wanted) {
  return fail(Code::kInvalid, given.name + " (" + given.origin + ") must be " + wanted + ", not " +
                                  python_repr(std::string_view(given.value)));
}

struct Assign {
  ToolSettings& settings;
  const GivenSetting& given;

  Result<void> operator()(TextSetting ToolSettings::* field) const {
    settings.*field = {given.value, given.origin};
    return {};
  }
  Result<void> operator()(Setting<double> ToolSettings::* field) const {
    const auto number = lax_number(json::value(given.value));
    if (!number) return unreadable(given, "a number");
    settings.*field = {number->value, given.origin};
    return {};
  }
  Result<void> operator()(Setting<bool> ToolSettings::* field) const {
    const auto truth = lax_boolean(json::value(given.value));
    if (!truth) return unreadable(given, "true or false");
    settings.*field = {truth->value, given.origin};
    return {};
  }
};

struct Show {
  const ToolSettings& settings;
  const Description& description;

  ShownSetting operator()(TextSetting ToolSettings::* field) const {
    const TextSetting& setting = settings.*field;
    std::string text = setting.value.value_or("");
    if (description.shown == Shown::kMasked && !text.empty()) text = "****";
    return {std::string(description.name), text, setting.origin};
  }
  ShownSetting operator()(Setting<double> ToolSettings::* field) const {
    return {std::string(description.name), python_repr((settings.*field).value), (settings.*field).origin};
  }
  ShownSetting operator()(Setting<bool> ToolSettings::* field) const {
    return {std::string(description.name), (settings.*field).value ? "true" : "false", (settings.*field).origin};
  }
};

bool set(const TextSetting& setting) { return setting.value && !setting.value->empty(); }

Result<void> refuse_unknown(const std::vector<GivenSetting>& file) {
  for (const GivenSetting& given : file) {
    if (!is_tool_setting(upper(given.name)))
      return fail(Code::kInvalid, given.origin + ": there is no tool setting \"" + given.name + "\"");
  }
  return {};
}

}  // namespace

bool is_tool_setting(std::string_view name) {
  return std::any_of(descriptions().begin(), descriptions().end(), [name](const Description& setting) {
    return setting.name == name ||
           std::find(setting.aliases.begin(), setting.aliases.end(), name) != setting.aliases.end();
  });
}

const GivenSetting* find_setting(const std::vector<GivenSetting>& given, std::string_view name) {
  const auto found = std::find_if(given.rbegin(), given.rend(),
                                  [name](const GivenSetting& setting) { return upper(setting.name) == name; });
  return found == given.rend() ? nullptr : &*found;
}

SandboxType ToolSettings::sandbox_type() const { return set(e2b_api_key) ? SandboxType::kE2b : SandboxType::kLocal; }

bool ToolSettings::modal_sandbox_enabled() const { return set(modal_token_id) && set(modal_token_secret); }

SandboxDefaults ToolSettings::sandbox_defaults(const std::string& home) const {
  return {set(exec_dir) ? *exec_dir.value : home + "/.letta/tool_execution_dir", e2b_template_id.value};
}

std::vector<GivenSetting> environment_settings(const char* const* environment) {
  std::vector<GivenSetting> given;
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    const size_t equals = entry.find('=');
    if (equals == entry.npos) continue;
    const std::string name(entry.substr(0, equals));
    given.push_back({name, std::string(entry.substr(equals + 1)), "environment " + name});
  }
  return given;
}

Result<ToolSettings> read_tool_settings(const std::vector<GivenSetting>& environment,
                                        const std::vector<GivenSetting>& file, SettingNames names) {
  BJ_CHECK(refuse_unknown(file));
  ToolSettings settings;
  for (const Description& setting : descriptions()) {
    const GivenSetting* given = find(environment, setting, names);
    if (given == nullptr) given = find(file, setting, SettingNames::kWithAliases);
    if (given != nullptr) BJ_CHECK(std::visit(Assign{settings, *given}, setting.field));
  }
  return settings;
}

std::vector<ShownSetting> shown_settings(const ToolSettings& settings) {
  std::vector<ShownSetting> shown;
  for (const Description& description : descriptions()) {
    shown.push_back(std::visit(Show{settings, description}, description.field));
  }
  return shown;
}

}  // namespace bj
