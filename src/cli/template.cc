// belljar template: what sandboxes' roots are made of. Those of this machine are files; those that organizations build
// live in the server.
#include "engine/templates/template.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <boost/json/array.hpp>

#include "cli/context.h"
#include "cli/flags.h"
#include "cli/json_output.h"
#include "cli/network_flag.h"
#include "cli/say.h"
#include "cli/server_client.h"
#include "cli/sizes.h"
#include "cli/table.h"
#include "cli/template_build.h"
#include "cli/terminal.h"
#include "cli/with_engine.h"
#include "engine/import/template_import.h"
#include "sys/files.h"

namespace bj {
namespace {

constexpr const char* kFooter =
    R"(`base` is a read-only view of this machine's own system and made at its first use; others are imported here, by an
administrator, or built and pulled in the running server, by the organization of the key (admin.key of the data
directory, or BELLJAR_API_KEY; --server or BELLJAR_SERVER).

Examples:
  belljar template list
  belljar template build tool .                 # a Belljarfile or Dockerfile, and the files that it copies
  belljar template build --manifest python      # comes with Belljar; also code-interpreter, node, code-server
  belljar template network tool packages        # what its sandboxes reach at most
  belljar template pull slim python:3.12-slim   # an image from a registry
  belljar template export tool tool.tar         # as docker load and template import take it
  docker save python:3.12-slim -o python.tar && belljar template import python python.tar
  belljar template import alpine alpine-minirootfs-3.20.0-x86_64.tar.gz
  belljar exec --template alpine -- cat /etc/os-release
  belljar template rm alpine)";

TemplateStore store(const Settings& settings) { return TemplateStore(settings.data_directory + "/templates"); }

int report(const Error& error) {
  complain(error.what);
  return status_of(error);
}

namespace json = boost::json;

struct TemplateFlags {
  std::string server, name, source, policy;
  bool clear = false;
  TemplateBuildFlags build;
};

std::string path_of(const std::string& name) { return "/v1/templates/" + ServerClient::escaped(name); }

std::string text_at(const json::value& object, std::string_view key) {
  const json::value* const found = object.is_object() ? object.get_object().if_contains(key) : nullptr;
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : "";
}

// Whether a server is meant: named, or one that was started here before.
bool has_server(const TemplateFlags& flags, const Settings& settings) {
  return !flags.server.empty() || !process_environment("BELLJAR_SERVER").empty() ||
         ::access((settings.data_directory + "/admin.key").c_str(), R_OK) == 0;
}

int with_server(const TemplateFlags& flags, const Settings& settings,
                const std::function<Result<int>(ServerClient&)>& work) {
  Result<ServerClient> server = ServerClient::open(settings, flags.server);
  if (!server) return report(server.error());
  const Result<int> status = work(*server);
  if (status) return *status;
  complain(status.error().what);
  const Code code = status.error().code;
  return code == Code::kInvalid || code == Code::kNotFound || code == Code::kUnprocessable ? kExitUsage
                                                                                           : status_of(status.error());
}

// What the server has beside this machine's own; nothing if there is none.
json::array of_server(const TemplateFlags& flags, const Settings& settings) {
  if (!has_server(flags, settings)) return {};
  Result<ServerClient> server = ServerClient::open(settings, flags.server);
  Result<json::value> answer = server ? server->ask("GET", "/v1/templates") : tl::unexpected(server.error());
  if (!answer || !answer->is_array()) return {};
  json::array found;
  for (const json::value& one : answer->get_array()) {
    if (text_at(one, "kind") != "machine") found.push_back(one);
  }
  return found;
}

std::string names_of(const json::value& one) {
  std::string names;
  const json::value* const list = one.is_object() ? one.get_object().if_contains("names") : nullptr;
  if (list != nullptr && list->is_array()) {
    for (const json::value& name : list->get_array())
      names += (names.empty() ? "" : " ") + (name.is_string() ? std::string(name.get_string()) : "");
  }
  return names.empty() ? text_at(one, "id") : names;
}

int list(const TemplateFlags& flags, const Settings& settings) {
  const auto names = store(settings).names();
  if (!names) return report(names.error());
  json::array all;
  for (const std::string& name : *names) {
    all.push_back(json::object{{"name", name}});
    if (!settings.json) print_untrusted(STDOUT_FILENO, name + "\n");
  }
  for (const json::value& one : of_server(flags, settings)) {
    if (!settings.json)
      print_untrusted(STDOUT_FILENO,
                      fmt::format("{}  {}  {}\n", names_of(one), text_at(one, "kind"), text_at(one, "status")));
    all.push_back(one);
  }
  if (settings.json) print_json(all);
  return kExitOk;
}

int show(const TemplateFlags& flags, const Settings& settings) {
  return with_server(flags, settings, [&](ServerClient& server) -> Result<int> {
    BJ_TRY(const json::value found, server.ask("GET", path_of(flags.name)));
    print_json(found);
    return kExitOk;
  });
}

// Shows, sets or clears the policy of one of the server's.
int network(const TemplateFlags& flags, const Settings& settings) {
  return with_server(flags, settings, [&](ServerClient& server) -> Result<int> {
    const std::string path = path_of(flags.name) + "/network";
    if (flags.clear) {
      if (!flags.policy.empty()) return fail(Code::kInvalid, "--clear takes no policy");
      BJ_CHECK(server.ask("DELETE", path));
      return kExitOk;
    }
    json::value answer;
    if (flags.policy.empty()) {
      BJ_TRY(answer, server.ask("GET", path));
    } else {
      BJ_TRY(const json::value policy, network_policy_json(flags.policy));
      BJ_TRY(answer, server.ask("PUT", path, json::object{{"policy", policy}}));
    }
    print_json(answer);
    return kExitOk;
  });
}

// One of this machine's, else one of the server's.
int remove(const TemplateFlags& flags, const Settings& settings) {
  const auto names = store(settings).names();
  const bool here = names && std::find(names->begin(), names->end(), flags.name) != names->end();
  if (here || !has_server(flags, settings)) {
    const Result<void> removed = store(settings).remove(flags.name);
    return removed ? kExitOk : report(removed.error());
  }
  return with_server(flags, settings, [&](ServerClient& server) -> Result<int> {
    BJ_CHECK(server.ask("DELETE", path_of(flags.name)));
    return kExitOk;
  });
}

int build(TemplateFlags flags, const Settings& settings) {
  if (flags.build.name.empty()) flags.build.name = flags.build.manifest;
  if (flags.build.name.empty()) return refuse("what shall it be called? (see `belljar template build --help`)");
  if (flags.build.directory.empty()) flags.build.directory = ".";
  return with_server(flags, settings,
                     [&](ServerClient& server) { return build_template(server, flags.build, settings.json); });
}

void end_progress() {
  if (::isatty(STDERR_FILENO) != 0) (void)write_all(STDERR_FILENO, "\r\033[K", "progress");
}

// Waits until it is packed, with progress on a terminal, then fetches it.
Result<void> fetch_archive(ServerClient& server, const std::string& path, int to) {
  std::string id, failure = "the server ended its answer early";
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  BJ_CHECK(server.listen("GET", path + "/export", std::nullopt, [&](const ServerEvent& event) {
    if (event.name == "note") complain(text_at(event.data, "message"));
    if (event.name == "failed") failure = text_at(event.data, "detail");
    if (event.name == "end") id = text_at(event.data, "export_id");
    if (event.name != "progress" || !terminal || !event.data.is_object()) return;
    const uint64_t bytes = event.data.at("bytes").to_number<uint64_t>();
    (void)write_all(STDERR_FILENO, fmt::format("\r\033[Kpacking: {}", format_size(bytes)), "progress");
  }));
  end_progress();
  if (id.empty()) return fail(Code::kUnavailable, failure);
  return server.download(path + "/exports/" + ServerClient::escaped(id), to, {});
}

int export_file(const TemplateFlags& flags, const Settings& settings) {
  return with_server(flags, settings, [&](ServerClient& server) -> Result<int> {
    const std::string partial = flags.source + ".partial";
    BJ_TRY(const Fd file, open_path(partial, O_WRONLY | O_CREAT | O_TRUNC, 0644));
    const Result<void> done = fetch_archive(server, path_of(flags.name), file.get());
    if (done && ::rename(partial.c_str(), flags.source.c_str()) == 0) return kExitOk;
    ::unlink(partial.c_str());
    if (!done) return tl::unexpected(done.error());
    return fail_errno("rename(" + flags.source + ")");
  });
}

// One line that rewrites itself on a terminal, nothing elsewhere.
void show_progress(const ImportProgress& progress) {
  if (::isatty(STDERR_FILENO) == 0) return;
  std::string line = fmt::format("\r\033[K{} entries, {}", progress.entries, format_size(progress.bytes));
  if (progress.layers > 1) line += fmt::format(", layer {} of {}", progress.layer, progress.layers);
  (void)write_all(STDERR_FILENO, line, "progress");
}

int import(const std::string& name, const std::string& source, const Settings& settings) {
  const std::string directory = store(settings).directory();
  if (const Result<void> made = make_directories(settings.data_directory, 0700); !made) return report(made.error());
  if (const Result<void> made = make_directories(directory, 0700); !made) return report(made.error());
  const Result<ImportReport> imported = import_template(directory, name, source, ImportLimits{}, show_progress);
  end_progress();
  if (!imported) return report(imported.error());
  for (const auto* notes : {&imported->notes, &imported->settings.notes}) {
    for (const std::string& note : *notes) complain(note);
  }
  print_untrusted(STDOUT_FILENO, fmt::format("template {}: {} entries, {}, from a {}\n", name, imported->entries,
                                             format_size(imported->bytes), imported->kind));
  return kExitOk;
}

}  // namespace

namespace {

void add_build_flags(CLI::App& command, TemplateBuildFlags& flags) {
  command.add_option("--tag", flags.tags, "a tag that it shall have [default]")->type_name("TAG");
  command.add_option("--cpus", flags.cpus, "processors of its sandboxes")->type_name("NUMBER");
  command.add_option("--memory", flags.memory, "memory of its sandboxes, e.g. 2G")->type_name("SIZE");
  command.add_option("--start", flags.start, "a command that each sandbox runs in the background")
      ->type_name("COMMAND");
  command.add_option("--ready", flags.ready, "a sandbox is ready when this succeeds")->type_name("COMMAND");
  command
      .add_option("--network", flags.network,
                  "what its sandboxes reach at most: none, packages, open, allow:HOST[:PORT],... or a file")
      ->type_name("POLICY");
  command.add_option("--registry-user", flags.user, "who pulls the image")->type_name("NAME");
  command.add_option("--registry-password-env", flags.password_variable, "the variable that holds the password")
      ->type_name("NAME");
  command.add_flag("--force", flags.force, "do every step again, whatever is remembered");
}

void add_server_commands(CLI::App& command, const std::shared_ptr<TemplateFlags>& flags, Context& context) {
  CLI::App* const build_command = add_subcommand(command, "build", "Build a template in the server, with its log");
  build_command->add_option("name", flags->build.name, "what it shall be called, with a tag behind a colon")
      ->type_name("NAME[:TAG]");
  build_command->add_option("directory", flags->build.directory, "where the text and the files are [.]")
      ->type_name("DIR");
  build_command->add_option("--file", flags->build.file, "the text [Belljarfile, else Dockerfile]")->type_name("FILE");
  build_command
      ->add_option("--manifest", flags->build.manifest,
                   "one that comes with Belljar: python, code-interpreter, node, code-server, base")
      ->type_name("NAME");
  add_build_flags(*build_command, flags->build);
  add_json_flag(*build_command, context, "print the build's end");
  build_command->callback([flags, &context] { context.status = build(*flags, context.settings); });

  CLI::App* const pull_command = add_subcommand(command, "pull", "Make a template of an image from a registry");
  pull_command->add_option("name", flags->build.name, "what it shall be called")->required()->type_name("NAME[:TAG]");
  pull_command->add_option("image", flags->build.image, "as docker pull takes it")->required()->type_name("IMAGE");
  add_build_flags(*pull_command, flags->build);
  add_json_flag(*pull_command, context, "print the build's end");
  pull_command->callback([flags, &context] { context.status = build(*flags, context.settings); });

  CLI::App* const show_command = add_subcommand(command, "show", "Everything about a template, as JSON");
  show_command->add_option("name", flags->name, "which")->required()->type_name("NAME");
  show_command->callback([flags, &context] { context.status = show(*flags, context.settings); });

  CLI::App* const network_command =
      add_subcommand(command, "network", "Show, set or clear what sandboxes of a template reach at most");
  network_command->footer(
      "It goes with the template's files: to sandboxes made of it from now on, their forks and "
      "snapshots, and what is built on it.");
  network_command->add_option("name", flags->name, "which")->required()->type_name("NAME");
  network_command->add_option("policy", flags->policy, "none, packages, open, allow:HOST[:PORT],... or a file")
      ->type_name("POLICY");
  network_command->add_flag("--clear", flags->clear, "it has none from now on");
  network_command->callback([flags, &context] { context.status = network(*flags, context.settings); });

  CLI::App* const export_command = add_subcommand(command, "export", "Write a template as a docker-archive");
  export_command->add_option("name", flags->name, "which")->required()->type_name("NAME");
  export_command->add_option("file", flags->source, "where to")->required()->type_name("FILE");
  export_command->callback([flags, &context] { context.status = export_file(*flags, context.settings); });
}

}  // namespace

void add_template(CLI::App& app, Context& context) {
  CLI::App* const command =
      add_subcommand(app, "template", "Build, pull, import, list and remove what sandboxes are made of");
  command->footer(kFooter);
  command->require_subcommand(1);
  auto flags = std::make_shared<TemplateFlags>();
  command
      ->add_option("--server", flags->server, "where the server is [BELLJAR_SERVER, else that of the data directory]")
      ->type_name("URL");

  CLI::App* const list_command = add_subcommand(*command, "list", "Names of all templates");
  add_json_flag(*list_command, context, "print [{name}]");
  list_command->callback([flags, &context] { context.status = list(*flags, context.settings); });
  add_server_commands(*command, flags, context);

  CLI::App* const import_command = add_subcommand(
      *command, "import", "Make a template of this machine, for everybody, of a root filesystem or an image");
  import_command->footer(
      "Everything in the file is taken as hostile; devices, set-id bits and extended attributes are left out.");
  import_command->add_option("name", flags->name, "what it shall be called: a-z, 0-9, . _ -")
      ->required()
      ->type_name("NAME");
  import_command
      ->add_option("file", flags->source,
                   "a directory, a tar, a docker-archive (docker save) or an OCI archive or layout")
      ->required()
      ->type_name("FILE");
  import_command->callback(
      [flags, &context] { context.status = import(flags->name, flags->source, context.settings); });

  CLI::App* const remove_command = add_subcommand(*command, "rm", "Remove a template");
  remove_command->add_option("name", flags->name, "which")->required()->type_name("NAME");
  remove_command->callback([flags, &context] { context.status = remove(*flags, context.settings); });
}

}  // namespace bj
