// belljar credential: secrets that the gate gives to requests.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "api/native/credential_json.h"
#include "cli/context.h"
#include "cli/flags.h"
#include "cli/json_output.h"
#include "cli/open_store.h"
#include "cli/organization.h"
#include "cli/record_act.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "egress/credential_json.h"
#include "sys/files.h"
#include "tools/call_credential.h"
#include "tools/stored_json.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr size_t kMostBytes = 64 * 1024;

constexpr const char* kFooter =
    R"(Code never has the value: the gate puts it into HTTPS requests to the named hosts, and nowhere else. A tool, a sandbox
configuration or a call names the credentials it uses ("credentials": ["github"]), and its network policy must allow the
host. With --variable, the code finds a placeholder in that environment variable and sends it as if it were the value.

Examples:
  belljar credential add github --from-env GITHUB_TOKEN --host api.github.com --header Authorization --format 'Bearer {}'
  belljar credential add maps --from-file key.txt --host maps.example.com --query key --variable MAPS_KEY
  belljar credential list
  belljar credential rm github)";

struct CredentialFlags {
  std::string name, organization, from_file, from_env, header, query, format, placeholder, variable;
  std::vector<std::string> hosts, ports, methods, paths;
  bool body = false, replace = false;
};

json::array list_of(const std::vector<std::string>& texts) { return json::array(texts.begin(), texts.end()); }

// Only what was said: what is wrong or missing is told by whoever reads it.
json::object binding_of(const CredentialFlags& flags) {
  json::object binding{{"hosts", list_of(flags.hosts)}};
  if (!flags.ports.empty()) binding["ports"] = list_of(flags.ports);
  if (!flags.methods.empty()) binding["methods"] = list_of(flags.methods);
  if (!flags.paths.empty()) binding["paths"] = list_of(flags.paths);
  if (!flags.header.empty()) binding["header"] = flags.header;
  if (!flags.query.empty()) binding["query"] = flags.query;
  if (flags.body) binding["body"] = true;
  if (!flags.format.empty()) binding["format"] = flags.format;
  if (!flags.placeholder.empty()) binding["placeholder"] = flags.placeholder;
  if (!flags.variable.empty()) binding["variable"] = flags.variable;
  return binding;
}

// A value is never an argument: others can read those.
Result<Secret> value_of(const CredentialFlags& flags) {
  if (flags.from_env.empty() == flags.from_file.empty())
    return fail(Code::kInvalid, "say where the value is: --from-file FILE (- is stdin) or --from-env VARIABLE");
  std::string text;
  if (!flags.from_env.empty()) {
    text = process_environment(flags.from_env);
    if (text.empty()) return fail(Code::kInvalid, "the environment variable " + flags.from_env + " is not set");
  } else {
    const auto read =
        flags.from_file == "-" ? read_all(STDIN_FILENO, kMostBytes, "stdin") : read_file(flags.from_file, kMostBytes);
    BJ_TRY(text, read);
  }
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  Secret value = Secret::take(std::move(text));
  BJ_CHECK(check_credential_value(value.reveal()));
  return value;
}

int add(const CredentialFlags& flags, const Settings& settings) {
  return with_store(settings, [&](Store& store) -> Result<void> {
    BJ_CHECK(check_credential_name(flags.name));
    BJ_TRY(const CallCredential credential, read_binding(binding_of(flags)));
    BJ_TRY(Secret value, value_of(flags));
    BJ_TRY(const Actor actor, actor_in(store, flags.organization));
    const std::string binding = json::serialize(binding_json(credential));
    CredentialTable& table = store.credentials();
    BJ_TRY(const CredentialRow row, flags.replace ? table.put(actor, flags.name, binding, std::move(value))
                                                  : table.create(actor, flags.name, binding, value));
    BJ_CHECK(record_act(store, settings.data_directory, actor, flags.replace ? "credential.put" : "credential.create",
                        row.id, {{"name", row.name}, {"binding", stored_json(row.binding)}}));
    if (settings.json) print_json(native::credential_json(row));
    return {};
  });
}

int list(const CredentialFlags& flags, const Settings& settings) {
  return with_store(settings, [&](Store& store) -> Result<void> {
    BJ_TRY(const Actor actor, actor_in(store, flags.organization));
    BJ_TRY(const std::vector<CredentialRow> all, store.credentials().list(actor.organization));
    json::array out;
    std::vector<std::vector<std::string>> rows;
    for (const CredentialRow& row : all) {
      out.push_back(native::credential_json(row));
      const Result<CallCredential> bound = read_binding(stored_object(row.binding));
      std::vector<std::string> hosts;
      if (bound) {
        for (const Target& host : bound->gate.hosts) hosts.push_back(host.text());
      }
      rows.push_back({row.name, fmt::format("{}", fmt::join(hosts, " ")), bound ? bound->gate.field : "",
                      bound ? bound->variable : ""});
    }
    if (settings.json) {
      print_json(out);
    } else {
      print_table({"NAME", "HOSTS", "FIELD", "VARIABLE"}, rows,
                  "there are no credentials: belljar credential add NAME");
    }
    return {};
  });
}

int remove(const CredentialFlags& flags, const Settings& settings) {
  return with_store(settings, [&](Store& store) -> Result<void> {
    BJ_TRY(const Actor actor, actor_in(store, flags.organization));
    BJ_TRY(const CredentialRow row, store.credentials().remove(actor.organization, flags.name));
    BJ_CHECK(record_act(store, settings.data_directory, actor, "credential.remove", row.id, {{"name", row.name}}));
    if (settings.json) print_json({{"removed", row.name}});
    return {};
  });
}

void add_add(CLI::App& command, const std::shared_ptr<CredentialFlags>& flags, Context& context) {
  CLI::App* const make = add_subcommand(command, "add", "Store a credential");
  make->add_option("name", flags->name, "how tools name it")->required()->type_name("NAME");
  make->add_option("--from-file", flags->from_file, "the value is in this file; -: on stdin")->type_name("FILE");
  make->add_option("--from-env", flags->from_env, "the value is in this environment variable")->type_name("VARIABLE");
  make->add_option("--host", flags->hosts, "where it is used: NAME or *.NAME")
      ->required()
      ->type_name("HOST")
      ->allow_extra_args(false);
  make->add_option("--port", flags->ports, "on which port [443]")->type_name("PORT")->allow_extra_args(false);
  make->add_option("--method", flags->methods, "of which requests [all]")->type_name("METHOD")->allow_extra_args(false);
  make->add_option("--path", flags->paths, "/exact or /prefix/* [all]")->type_name("PATH")->allow_extra_args(false);
  make->add_option("--header", flags->header, "the header that gets it")->type_name("NAME");
  make->add_option("--query", flags->query, "or the query parameter")->type_name("NAME");
  make->add_flag("--body", flags->body, "or the body, wherever the placeholder stands");
  make->add_option("--format", flags->format, "what is put there, {} being the value [{}]")->type_name("TEXT");
  make->add_option("--placeholder", flags->placeholder, "what the code sends instead")->type_name("TEXT");
  make->add_option("--variable", flags->variable, "the environment variable in which the code finds the placeholder")
      ->type_name("NAME");
  make->add_flag("--replace", flags->replace, "overwrite the one of that name");
  add_organization_flag(*make, flags->organization);
  add_json_flag(*make, context, "print {id, name, binding, ...}");
  make->callback([flags, &context] { context.status = add(*flags, context.settings); });
}

}  // namespace

void add_credential(CLI::App& app, Context& context) {
  auto flags = std::make_shared<CredentialFlags>();
  CLI::App* const command = add_subcommand(app, "credential", "Store secrets that code can use but not read");
  command->footer(kFooter);
  command->require_subcommand(1);
  add_add(*command, flags, context);

  CLI::App* const show =
      add_subcommand(*command, "list", "All credentials and where they are used, never their values");
  add_organization_flag(*show, flags->organization);
  add_json_flag(*show, context, "print [{id, name, binding, ...}]");
  show->callback([flags, &context] { context.status = list(*flags, context.settings); });

  CLI::App* const end = add_subcommand(*command, "rm", "Remove a credential");
  end->add_option("name", flags->name, "which")->required()->type_name("NAME");
  add_organization_flag(*end, flags->organization);
  add_json_flag(*end, context, "print {removed}");
  end->callback([flags, &context] { context.status = remove(*flags, context.settings); });
}

}  // namespace bj
