// belljar network: what the calls of an organization may reach at most.
#include <unistd.h>

#include <CLI/App.hpp>
#include <boost/json/serialize.hpp>

#include "cli/context.h"
#include "cli/flags.h"
#include "cli/json_output.h"
#include "cli/network_flag.h"
#include "cli/open_store.h"
#include "cli/organization.h"
#include "cli/record_act.h"
#include "cli/terminal.h"
#include "tools/network_layers.h"
#include "tools/stored_json.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr const char* kFooter =
    R"(The organization's policy is the outermost: sandbox configurations, tools and calls can only take away from it, and one of
them must ask for a network for a call to have any. Without one, the server's setting holds (`[network] policy`,
BELLJAR_NETWORK), which is `none` by default. docs/network.md has the format.

Examples:
  belljar network set packages
  belljar network set allow:api.example.com,*.example.org
  belljar network set policy.json --organization research
  belljar network show
  belljar network clear)";

struct NetworkFlags {
  std::string policy, organization;
};

int show(const NetworkFlags& flags, const Settings& settings) {
  return with_store(settings, [&](Store& store) -> Result<void> {
    BJ_TRY(const Actor actor, actor_in(store, flags.organization));
    BJ_TRY(const std::optional<NetworkPolicyRow> row, store.network_policies().find(actor.organization));
    json::value policy;
    if (row) {
      policy = stored_json(row->policy);
    } else {
      BJ_TRY(policy, network_policy_json(settings.network));
    }
    const char* const source = row ? "organization" : "server";
    if (settings.json) {
      print_json({{"policy", policy}, {"source", source}});
    } else {
      print_untrusted(STDOUT_FILENO, json::serialize(policy) + "  (the " + source + "'s)\n");
    }
    return {};
  });
}

int set(const NetworkFlags& flags, const Settings& settings) {
  return with_store(settings, [&](Store& store) -> Result<void> {
    BJ_TRY(const Actor actor, actor_in(store, flags.organization));
    BJ_TRY(const json::value policy, network_policy_json(flags.policy));
    BJ_CHECK(check_organization_policy(policy));
    BJ_TRY(const NetworkPolicyRow row, store.network_policies().put(actor, json::serialize(policy)));
    BJ_CHECK(record_act(store, settings.data_directory, actor, "network_policy.put", row.organization,
                        {{"policy", policy}}));
    if (settings.json) print_json({{"policy", policy}, {"source", "organization"}});
    return {};
  });
}

int clear(const NetworkFlags& flags, const Settings& settings) {
  return with_store(settings, [&](Store& store) -> Result<void> {
    BJ_TRY(const Actor actor, actor_in(store, flags.organization));
    BJ_CHECK(store.network_policies().remove(actor.organization));
    BJ_CHECK(record_act(store, settings.data_directory, actor, "network_policy.remove", actor.organization));
    return {};
  });
}

}  // namespace

void add_network(CLI::App& app, Context& context) {
  auto flags = std::make_shared<NetworkFlags>();
  CLI::App* const command = add_subcommand(app, "network", "Say what tools may reach at most");
  command->footer(kFooter);
  command->require_subcommand(1);

  CLI::App* const show_command = add_subcommand(*command, "show", "The policy, and whose it is");
  add_organization_flag(*show_command, flags->organization);
  add_json_flag(*show_command, context, "print {policy, source}");
  show_command->callback([flags, &context] { context.status = show(*flags, context.settings); });

  CLI::App* const set_command = add_subcommand(*command, "set", "Set the organization's policy");
  set_command->add_option("policy", flags->policy, "none, packages, open, allow:HOST[:PORT],..., JSON or a file of it")
      ->required()
      ->type_name("POLICY");
  add_organization_flag(*set_command, flags->organization);
  add_json_flag(*set_command, context, "print {policy, source}");
  set_command->callback([flags, &context] { context.status = set(*flags, context.settings); });

  CLI::App* const clear_command = add_subcommand(*command, "clear", "Remove it: the server's setting holds again");
  add_organization_flag(*clear_command, flags->organization);
  clear_command->callback([flags, &context] { context.status = clear(*flags, context.settings); });
}

}  // namespace bj
