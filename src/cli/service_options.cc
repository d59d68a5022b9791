#include "cli/service_options.h"

#include <unistd.h>

#include "cli/environment.h"
#include "cli/letta_config.h"
#include "cli/network_flag.h"
#include "cli/open_store.h"

namespace bj {
namespace {

constexpr double kShortestTimeout = 0.001, kLongestTimeout = 1e9;  // seconds

// As a limit, where 0 would mean none.
Result<uint64_t> wall_ms(const Setting<double>& timeout_s) {
  if (*timeout_s >= kShortestTimeout && *timeout_s <= kLongestTimeout) return static_cast<uint64_t>(*timeout_s * 1000);
  return fail(Code::kInvalid,
              "TOOL_SANDBOX_TIMEOUT (" + timeout_s.origin + ") must be seconds from 0.001 to 1000000000");
}

}  // namespace

Result<ToolSettings> tool_settings_of(const Settings& settings) {
  return read_tool_settings(environment_settings(environ), file_settings(settings));
}

Result<ServiceOptions> service_options(const Settings& settings) {
  ServiceOptions options;
  BJ_TRY(options.settings, tool_settings_of(settings));
  options.store = store_options(settings);
  options.local.template_name = settings.template_name;
  options.local.interpreter = interpreter_for(settings, "");
  options.local.limits = settings.limits;
  if (settings.timeout_given) {
    options.settings.sandbox_timeout_s.value = static_cast<double>(settings.limits.wall_ms) / 1000;  // what errors tell
  } else {
    BJ_TRY(options.local.limits.wall_ms, wall_ms(options.settings.sandbox_timeout_s));
  }
  options.local.index = index_settings();
  options.local.require_full_seal = settings.require_full_seal;
  options.from_server =
      allowed_from_server(environ, settings.pass_proxies ? ProxyVariables::kPass : ProxyVariables::kDrop);
  options.home = process_environment("HOME");
  options.keep_calls = settings.keep_calls;
  BJ_TRY(options.network.policy, network_policy_json(settings.network));
  options.network.package_hosts = package_hosts(options.local.index);
  options.network.files = CredentialFiles(settings.credentials_directory);
  return options;
}

}  // namespace bj
