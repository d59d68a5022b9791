#include "tools/config_manager.h"

#include <boost/json/serialize.hpp>

namespace bj {
namespace {

namespace json = boost::json;

const json::array kWhere{"body", "config"};

Result<SandboxConfigInput> checked(ConfigResult read) {
  if (!read) return fail(Code::kUnprocessable, field_errors_repr(read.error()));
  return std::move(*read);
}

std::string name_of(SandboxType type) { return std::string(sandbox_type_name(type)); }

}  // namespace

Result<SandboxConfigRow> ConfigManager::put(const Actor& actor, const json::value& config) {
  BJ_TRY(const SandboxConfigInput input, checked(read_sandbox_config(config, kWhere, defaults_)));
  return store_.sandbox_configs().upsert(actor, name_of(input.type), json::serialize(input.full));
}

Result<SandboxConfigRow> ConfigManager::put_as(const Actor& actor, SandboxType type, const json::value& config) {
  BJ_TRY(const SandboxConfigInput input, checked(read_sandbox_config_as(type, config, {"body"}, defaults_)));
  return store_.sandbox_configs().upsert(actor, name_of(type), json::serialize(input.full));
}

Result<SandboxConfigRow> ConfigManager::patch(const Actor& actor, const std::string& id, const json::value& config) {
  BJ_TRY(const SandboxConfigInput input, checked(read_sandbox_config(config, kWhere, defaults_)));
  const auto edit = [&input](SandboxConfigRow& row) -> Result<void> {
    const std::optional<SandboxType> stored = sandbox_type_named(row.type);
    if (!stored) return fail(Code::kInternal, "the stored configuration " + row.id + " has no known type");
    BJ_CHECK(check_same_type(*stored, input.type));
    row.config = json::serialize(input.given);
    return {};
  };
  return store_.sandbox_configs().change(actor, id, edit);
}

Result<SandboxConfigRow> ConfigManager::find_or_create(const Actor& actor, SandboxType type) {
  BJ_TRY(std::optional<SandboxConfigRow> found, store_.sandbox_configs().find(actor.organization, name_of(type)));
  if (found) return std::move(*found);
  const std::string usual = json::serialize(default_sandbox_config(type, defaults_));
  return store_.sandbox_configs().find_or_create(actor, name_of(type), usual);
}

VariableLayer clear_values(const std::vector<VariableRow>& variables) {
  VariableLayer values;
  for (const VariableRow& variable : variables) values[variable.key] = std::string(variable.value.reveal());
  return values;
}

}  // namespace bj
