// belljar key: who may use the server.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <boost/json/array.hpp>

#include "api/time_text.h"
#include "cli/context.h"
#include "cli/flags.h"
#include "cli/json_output.h"
#include "cli/open_store.h"
#include "cli/organization.h"
#include "cli/rate_fields.h"
#include "cli/record_act.h"
#include "cli/table.h"
#include "cli/terminal.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr const char* kFooter =
    R"(A key belongs to a user of an organization, whose tools, agents and secrets it opens, and has a role: `read-only` lists and reads
(values of secrets stay hidden), `member` also changes and runs, `admin` is for those who run the server.
A key is shown once, when it is made; the database holds its hash.

Examples:
  belljar key create --name ci --role member
  belljar key create --organization research --user ada --role read-only
  belljar key create --name crawler --rate 5 --runs 2
  belljar key list
  belljar key revoke key-123e4567-e89b-42d3-8456-426614174000)";

struct KeyFlags {
  std::string organization, user, name = "cli", role = "member", id, rate, runs;
};

Result<KeyLimits> limits_of(const KeyFlags& flags) {
  KeyLimits limits;
  if (!flags.rate.empty()) {
    BJ_TRY(limits.requests_per_second, parse_rate(flags.rate));
  }
  if (!flags.runs.empty()) {
    BJ_TRY(limits.runs_at_once, parse_runs(flags.runs));
  }
  return limits;
}

// Those that are the key's own.
void add_limits(const KeyLimits& limits, json::object& into) {
  if (limits.requests_per_second) into["requests_per_second"] = *limits.requests_per_second;
  if (limits.runs_at_once) into["runs_at_once"] = *limits.runs_at_once;
}

json::object key_json(const ApiKeyRow& key, const std::string& organization) {
  json::object shown{
      {"id", key.id},
      {"name", key.name},
      {"organization", organization},
      {"organization_id", key.organization},
      {"user_id", key.user},
      {"role", role_name(key.role)},
      {"created_at", time_text(key.created_at)},
      {"last_used_at", key.last_used_at ? json::value(time_text(*key.last_used_at)) : json::value(nullptr)},
      {"revoked_at", key.revoked_at ? json::value(time_text(*key.revoked_at)) : json::value(nullptr)}};
  add_limits(key.limits, shown);
  return shown;
}

int create(const KeyFlags& flags, const Settings& settings) {
  return with_store(settings, [&](Store& store) -> Result<void> {
    BJ_TRY(const Role role, role_of(flags.role));
    BJ_TRY(Actor owner, ensure_actor_in(store, flags.organization));
    if (!flags.user.empty()) {
      BJ_TRY(owner.user, ensure_user(store, owner.organization, flags.user));
    }
    BJ_TRY(const KeyLimits limits, limits_of(flags));
    BJ_TRY(const ApiKeyTable::Made made, store.api_keys().create(owner, flags.name, role, limits));
    json::object detail{{"role", role_name(role)}};
    add_limits(limits, detail);
    BJ_CHECK(record_act(store, settings.data_directory, owner, "key.create", made.row.id, std::move(detail)));
    if (settings.json) {
      BJ_TRY(const OrganizationRow organization, store.organizations().get(owner.organization));
      json::object shown = key_json(made.row, organization.name);
      shown["key"] = made.key.reveal();
      print_json(shown);
    } else {
      print_untrusted(STDOUT_FILENO, fmt::format("{}\n", made.key.reveal()));
    }
    return {};
  });
}

int list(const Settings& settings) {
  return with_store(settings, [&](Store& store) -> Result<void> {
    json::array all;
    std::vector<std::vector<std::string>> rows;
    BJ_TRY(const std::vector<OrganizationRow> organizations, store.organizations().list());
    for (const OrganizationRow& organization : organizations) {
      BJ_TRY(const std::vector<ApiKeyRow> keys, store.api_keys().list(organization.id));
      for (const ApiKeyRow& key : keys) {
        all.push_back(key_json(key, organization.name));
        const std::string used = key.last_used_at ? time_text(*key.last_used_at).substr(0, 16) : "never";
        rows.push_back(
            {key.id, key.name, organization.name, std::string(role_name(key.role)), key.revoked_at ? "revoked" : used});
      }
    }
    if (settings.json) {
      print_json(all);
    } else {
      print_table({"ID", "NAME", "ORGANIZATION", "ROLE", "LAST USED"}, rows, "there are no keys: belljar key create");
    }
    return {};
  });
}

// Ids are unique, so the organization need not be named.
int revoke(const KeyFlags& flags, const Settings& settings) {
  return with_store(settings, [&](Store& store) -> Result<void> {
    BJ_TRY(const std::vector<OrganizationRow> organizations, store.organizations().list());
    for (const OrganizationRow& organization : organizations) {
      const Result<ApiKeyRow> revoked = store.api_keys().revoke(organization.id, flags.id);
      if (!revoked && revoked.error().code == Code::kNotFound) continue;
      if (!revoked) return tl::unexpected(revoked.error());
      const Actor actor{organization.id, revoked->user, "", Role::kAdmin};
      BJ_CHECK(record_act(store, settings.data_directory, actor, "key.revoke", revoked->id));
      if (settings.json) print_json({{"revoked", revoked->id}});
      return {};
    }
    return fail(Code::kNotFound, "there is no key " + flags.id + "; `belljar key list` shows all");
  });
}

}  // namespace

void add_key(CLI::App& app, Context& context) {
  auto flags = std::make_shared<KeyFlags>();
  CLI::App* const command = add_subcommand(app, "key", "Make, list and revoke the keys that open the server");
  command->footer(kFooter);
  command->require_subcommand(1);

  CLI::App* const make = add_subcommand(*command, "create", "Make a key and print it, once");
  make->add_option("--name", flags->name, "what it is for [cli]")->type_name("NAME");
  make->add_option("--organization", flags->organization, "whose; made if there is none of that name [default]")
      ->type_name("NAME");
  make->add_option("--user", flags->user, "of whom there, by name or id; made if there is none [the first one]")
      ->type_name("NAME");
  make->add_option("--role", flags->role, "read-only, member or admin [member]")->type_name("ROLE");
  make->add_option("--rate", flags->rate, "requests a second it may make, instead of the server's rate_limit; 0: any")
      ->type_name("NUMBER");
  make->add_option("--runs", flags->runs, "runs it may have at a time, instead of the server's runs_at_once; 0: any")
      ->type_name("NUMBER");
  add_json_flag(*make, context, "print {id, key, name, organization, role, ...}");
  make->callback([flags, &context] { context.status = create(*flags, context.settings); });

  CLI::App* const show = add_subcommand(*command, "list", "All keys, never themselves");
  add_json_flag(*show, context, "print [{id, name, organization, role, created_at, last_used_at, revoked_at}]");
  show->callback([&context] { context.status = list(context.settings); });

  CLI::App* const end = add_subcommand(*command, "revoke", "Close a key, at once and for ever");
  end->add_option("id", flags->id, "which: key-...")->required()->type_name("ID");
  add_json_flag(*end, context, "print {revoked}");
  end->callback([flags, &context] { context.status = revoke(*flags, context.settings); });
}

}  // namespace bj
