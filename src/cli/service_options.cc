#include "cli/service_options.h"

#include <unistd.h>

#include "cli/environment.h"
#include "cli/network_flag.h"
#include "cli/open_store.h"

namespace bj {

Result<ToolSettings> tool_settings_of(const Settings& settings) {
  return read_tool_settings(environment_settings(environ), settings.tool_settings);
}

Result<ServiceOptions> service_options(const Settings& settings) {
  ServiceOptions options;
  BJ_TRY(options.settings, tool_settings_of(settings));
  options.store = store_options(settings);
  options.local.template_name = settings.template_name;
  options.local.interpreter = interpreter_for(settings, "");
  options.local.limits = settings.limits;
  if (!settings.timeout_given) {
    options.local.limits.wall_ms = static_cast<uint64_t>(*options.settings.sandbox_timeout_s * 1000);
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
