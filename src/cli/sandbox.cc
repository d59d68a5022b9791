// belljar sandbox: sandboxes that live in the running server.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <thread>

#include "cli/context.h"
#include "cli/copy_files.h"
#include "cli/flags.h"
#include "cli/json_output.h"
#include "cli/network_flag.h"
#include "cli/sandbox_code.h"
#include "cli/sandbox_snapshots.h"
#include "cli/sandbox_url.h"
#include "cli/say.h"
#include "cli/server_client.h"
#include "cli/sizes.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/terminal_client.h"
#include "cli/with_engine.h"
#include "cli/with_server.h"
#include "sys/bytes.h"
#include "sys/files.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr const char* kFooter =
    R"(Sandboxes live in the server: they are found through its API, with the key in admin.key of the data directory or
BELLJAR_API_KEY, at --server or BELLJAR_SERVER, else where the server of the data directory listens. They end when their
time is over.

Examples:
  id=$(belljar sandbox create --timeout 1h --env TOKEN=x)
  belljar sandbox create --image python:3.12-slim
  belljar sandbox network $id allow:api.example.com
  belljar sandbox exec $id -- sh -c 'echo hi > note; ls -l'
  belljar sandbox code $id -c 'x = 6 * 7' && belljar sandbox code $id -c x
  belljar sandbox cp data.csv $id:/home/user/data.csv
  belljar sandbox shell $id
  belljar sandbox url $id 8000 --for 1h
  belljar sandbox pause $id && belljar sandbox resume $id
  belljar sandbox snapshot $id --name ready && belljar sandbox create --template ready
  belljar sandbox fork $id -n 3
  belljar sandbox rm $id)";

constexpr size_t kLargestInput = 16 << 20;

struct SandboxFlags {
  std::string server, id, template_name, timeout, on_timeout = "kill", user, directory, network, state;
  std::string from, to, memory, disk;
  double cpus = 0;
  std::map<std::string, std::string> variables;
  std::string git_url, git_branch, image, registry_user, password_variable;
  std::vector<std::string> metadata, credentials, ids, volumes;
  bool extend = false;
  bool input = false;
};

std::string path_of(const std::string& id) { return "/v1/sandboxes/" + ServerClient::escaped(id); }

// NAME:PATH or NAME:PATH:ro, as --volume takes it.
Result<json::object> volume_of(const std::string& text) {
  const size_t colon = text.find(':');
  if (colon == std::string::npos || colon == 0) return fail(Code::kInvalid, "\"" + text + "\" is not NAME:PATH[:ro]");
  std::string path = text.substr(colon + 1);
  const bool read_only = path.ends_with(":ro");
  if (read_only) path.resize(path.size() - 3);
  return json::object{{"name", text.substr(0, colon)}, {"path", path}, {"read_only", read_only}};
}

Result<json::object> create_body(const SandboxFlags& flags) {
  json::object body;
  if (!flags.template_name.empty()) body["template"] = flags.template_name;
  if (!flags.image.empty()) body["image"] = flags.image;
  if (!flags.registry_user.empty())
    body["registry"] = {{"username", flags.registry_user}, {"password", process_environment(flags.password_variable)}};
  if (!flags.timeout.empty()) {
    BJ_TRY(const uint64_t ms, parse_duration_ms(flags.timeout));
    body["timeout"] = (ms + 999) / 1000;
  }
  body["on_timeout"] = flags.on_timeout;
  if (!flags.user.empty()) body["user"] = flags.user;
  json::object variables, metadata, limits;
  for (const auto& [name, value] : flags.variables) variables[name] = value;
  for (const std::string& pair : flags.metadata) {
    const size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0) return fail(Code::kInvalid, "\"" + pair + "\" is not NAME=VALUE");
    metadata[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  if (flags.cpus > 0) limits["cpus"] = flags.cpus;
  if (!flags.memory.empty()) {
    BJ_TRY(const uint64_t bytes, parse_size(flags.memory));
    limits["memory_bytes"] = bytes;
  }
  if (!flags.disk.empty()) {
    BJ_TRY(const uint64_t bytes, parse_size(flags.disk));
    limits["disk_bytes"] = bytes;
  }
  if (!flags.network.empty()) {
    BJ_TRY(body["network"], network_policy_json(flags.network));
  }
  if (!flags.credentials.empty()) body["credentials"] = json::array(flags.credentials.begin(), flags.credentials.end());
  json::array volumes;
  for (const std::string& text : flags.volumes) {
    BJ_TRY(json::object volume, volume_of(text));
    volumes.push_back(std::move(volume));
  }
  if (!volumes.empty()) body["volumes"] = std::move(volumes);
  if (!flags.git_url.empty()) body["git_url"] = flags.git_url;
  if (!flags.git_branch.empty()) body["git_branch"] = flags.git_branch;
  if (flags.extend) body["extend_on_activity"] = true;
  body["env"] = std::move(variables);
  body["metadata"] = std::move(metadata);
  body["limits"] = std::move(limits);
  return body;
}

// With the pull's progress on stderr.
Result<json::value> make_of_image(ServerClient& server, const json::object& body) {
  json::value made;
  std::string failure = "the server ended its answer early";
  BJ_CHECK(server.listen("POST", "/v1/sandboxes", body, [&](const ServerEvent& event) {
    if (event.name == "progress") print_untrusted(STDERR_FILENO, text_at(event.data, "message") + "\n");
    if (event.name == "failed") failure = text_at(event.data, "detail");
    if (event.name == "end") made = event.data;
  }));
  if (made.is_object()) return made;
  return fail(Code::kInvalid, failure);
}

int create(const SandboxFlags& flags, const Settings& settings) {
  const Result<json::object> body = create_body(flags);
  if (!body) return refuse(body.error().what);
  return with_server(flags.server, settings, [&](ServerClient& server) -> Result<int> {
    BJ_TRY(const json::value made,
           flags.image.empty() ? server.ask("POST", "/v1/sandboxes", *body) : make_of_image(server, *body));
    if (settings.json) {
      print_json(made);
    } else {
      print_untrusted(STDOUT_FILENO, text_at(made, "id") + "\n");
    }
    return kExitOk;
  });
}

int list(const SandboxFlags& flags, const Settings& settings) {
  return with_server(flags.server, settings, [&](ServerClient& server) -> Result<int> {
    std::string path = "/v1/sandboxes?limit=1000";
    if (flags.state.empty()) path += "&kept=true";
    path += "&state=" + ServerClient::escaped(flags.state.empty() ? "creating,running,paused,stopping" : flags.state);
    BJ_TRY(const json::value all, server.ask("GET", path));
    if (settings.json) {
      print_json(all);
      return kExitOk;
    }
    std::vector<std::vector<std::string>> rows;
    if (all.is_array()) {
      for (const json::value& one : all.get_array())
        rows.push_back({text_at(one, "id"), text_at(one, "template"), text_at(one, "state"),
                        text_at(one, "created_at").substr(0, 19), text_at(one, "end_at").substr(0, 19),
                        text_at(one, "reason")});
    }
    print_table({"ID", "TEMPLATE", "STATE", "CREATED (UTC)", "ENDS", ""}, rows,
                "there are no sandboxes: belljar sandbox create");
    return kExitOk;
  });
}

// pause, resume: a word to the server, and what it says.
int tell(const SandboxFlags& flags, const Settings& settings, const char* word) {
  return with_server(flags.server, settings, [&](ServerClient& server) -> Result<int> {
    BJ_TRY(const json::value answer, server.ask("POST", path_of(flags.id) + "/" + word));
    if (settings.json) print_json(answer);
    return kExitOk;
  });
}

int change_network(const SandboxFlags& flags, const Settings& settings) {
  const Result<json::value> policy = network_policy_json(flags.network);
  if (!policy) return refuse(policy.error().what);
  return with_server(flags.server, settings, [&](ServerClient& server) -> Result<int> {
    BJ_TRY(const json::value answer,
           server.ask("PUT", path_of(flags.id) + "/network", json::object{{"network", *policy}}));
    if (settings.json) print_json(answer);
    return kExitOk;
  });
}

int remove(const SandboxFlags& flags, const Settings& settings) {
  return with_server(flags.server, settings, [&](ServerClient& server) -> Result<int> {
    for (const std::string& id : flags.ids) {
      BJ_CHECK(server.ask("DELETE", path_of(id)));
      if (settings.json) print_json({{"removed", id}});
    }
    return kExitOk;
  });
}

int logs(const SandboxFlags& flags, const Settings& settings) {
  return with_server(flags.server, settings, [&](ServerClient& server) -> Result<int> {
    BJ_TRY(const json::value lines, server.ask("GET", path_of(flags.id) + "/logs"));
    if (settings.json) {
      print_json(lines);
    } else if (lines.is_array()) {
      for (const json::value& line : lines.get_array())
        print_untrusted(STDOUT_FILENO, fmt::format("{}  {:<7}  {}\n", text_at(line, "time").substr(0, 23),
                                                   text_at(line, "level"), text_at(line, "message")));
    }
    return kExitOk;
  });
}

// Our stdin to a command's, as it comes, until either has ended. On a thread that nobody waits for: who reads from a
// terminal may read for ever.
void pass_input(ServerClient server, const std::string& path) {
  constexpr size_t kPiece = 256 << 10;
  for (;;) {
    std::string bytes(kPiece, '\0');
    const Moved read = read_some(STDIN_FILENO, bytes.data(), bytes.size());
    if (read.not_now()) {  // whoever gave it to us does not want to wait
      pollfd there{STDIN_FILENO, POLLIN, 0};
      ::poll(&there, 1, -1);
      continue;
    }
    if (read.size == 0) break;
    bytes.resize(read.size);
    if (!server.post(path, std::move(bytes))) return;
  }
  (void)server.post(path + "?close=true", "");
}

using OnStart = std::function<void(int64_t pid)>;

Result<int> follow(ServerClient& server, const std::string& path, const json::object& body, const OnStart& on_start) {
  int status = kExitFailed;
  BJ_CHECK(server.listen("POST", path, body, [&](const ServerEvent& event) {
    if (event.name == "start" && event.data.is_object()) {
      const json::value* const pid = event.data.get_object().if_contains("pid");
      if (pid != nullptr && pid->is_int64()) on_start(pid->get_int64());
    }
    if (event.name == "stdout") print_untrusted(STDOUT_FILENO, text_at(event.data, "text"));
    if (event.name == "stderr") print_untrusted(STDERR_FILENO, text_at(event.data, "text"));
    if (event.name != "end" || !event.data.is_object()) return;
    const json::object& end = event.data.get_object();
    const json::value* const exit = end.if_contains("exit_status");
    const json::value* const late = end.if_contains("timed_out");
    if (exit != nullptr && exit->is_int64()) status = static_cast<int>(exit->get_int64());
    if (late != nullptr && late->is_bool() && late->get_bool()) status = kExitTimeout;
  }));
  return status;
}

int exec(const SandboxFlags& flags, const Settings& settings, const std::vector<std::string>& command) {
  if (command.empty()) return refuse("no command was given: belljar sandbox exec ID -- COMMAND");
  json::object body{{"command", json::array(command.begin(), command.end())}};
  if (!flags.user.empty()) body["user"] = flags.user;
  if (!flags.directory.empty()) body["cwd"] = flags.directory;
  json::object variables;
  for (const auto& [name, value] : flags.variables) variables[name] = value;
  body["env"] = std::move(variables);
  body["timeout"] = 0;
  if (!flags.timeout.empty()) {
    const Result<uint64_t> ms = parse_duration_ms(flags.timeout);
    if (!ms) return refuse(ms.error().what);
    body["timeout"] = (*ms + 999) / 1000;
  }
  if (flags.input && !settings.json) body["keep_stdin"] = true;
  if (flags.input && settings.json) {
    const Result<std::string> input = read_all(STDIN_FILENO, kLargestInput, "stdin");
    if (!input) return refuse(input.error().what);
    body["stdin"] = *input;
  }
  return with_server(flags.server, settings, [&](ServerClient& server) -> Result<int> {
    const std::string path = path_of(flags.id) + "/commands";
    if (!settings.json) {
      return follow(server, path, body, [&](int64_t pid) {
        if (!flags.input) return;
        Result<ServerClient> another = ServerClient::open(settings, flags.server);
        if (another) std::thread(pass_input, std::move(*another), fmt::format("{}/{}/stdin", path, pid)).detach();
      });
    }
    BJ_TRY(const json::value answer, server.ask("POST", path, body));
    print_json(answer);
    return static_cast<int>(answer.at("exit_status").to_number<int64_t>());
  });
}

int shell(const SandboxFlags& flags, const Settings& settings) {
  return with_server(flags.server, settings, [&](ServerClient& server) {
    const WindowSize size = window_size(STDIN_FILENO);
    std::string path = path_of(flags.id) + fmt::format("/terminal?rows={}&columns={}", size.rows, size.columns);
    if (!flags.user.empty()) path += "&user=" + ServerClient::escaped(flags.user);
    if (!flags.directory.empty()) path += "&cwd=" + ServerClient::escaped(flags.directory);
    return join_terminal(server, path);
  });
}

int copy(const SandboxFlags& flags, const Settings& settings) {
  return with_server(flags.server, settings,
                     [&](ServerClient& server) { return copy_files(server, flags.from, flags.to); });
}

CLI::App* subcommand(CLI::App* parent, const char* name, const char* help, const std::shared_ptr<SandboxFlags>& flags) {
  CLI::App* const command = add_subcommand(*parent, name, help);
  command->add_option("--server", flags->server, "the server's url [BELLJAR_SERVER, else that of the data directory]")
      ->type_name("URL");
  return command;
}

void add_create(CLI::App* parent, const std::shared_ptr<SandboxFlags>& flags, Context& context) {
  CLI::App* const command = subcommand(parent, "create", "Create a sandbox and print its id", flags);
  command->add_option("--template", flags->template_name, "its template [base]")->type_name("NAME");
  command->add_option("--image", flags->image, "an image instead, as docker pull takes it; pulled if it is not here")
      ->type_name("IMAGE");
  command->add_option("--registry-user", flags->registry_user, "who pulls the image")->type_name("NAME");
  command->add_option("--registry-password-env", flags->password_variable, "the variable that holds the password")
      ->type_name("NAME");
  command->add_option("--timeout", flags->timeout, "how long it lives [5m]")->type_name("TIME");
  command->add_option("--on-timeout", flags->on_timeout, "what happens then: kill, pause or stop [kill]")
      ->check(CLI::IsMember({"kill", "pause", "stop"}))
      ->type_name("ACT");
  command->add_option("-u,--user", flags->user, "its user inside [the template's]")->type_name("USER");
  command->add_flag("--extend-on-activity", flags->extend, "whatever is done with it gives it its whole time again");
  command->add_option("--volume", flags->volumes, "a volume and where it is mounted")
      ->type_name("NAME:PATH[:ro]")
      ->allow_extra_args(false);
  command
      ->add_option("--git-url", flags->git_url, "a repository to clone into its home; the policy must allow its host")
      ->type_name("URL");
  command->add_option("--git-branch", flags->git_branch, "its branch or tag")->type_name("NAME");
  command->add_option("--cpus", flags->cpus, "share of the processors")
      ->check(CLI::Range(0.01, 4096.0))
      ->type_name("N");
  command->add_option("--memory", flags->memory, "memory and swap")->type_name("SIZE");
  command->add_option("--disk", flags->disk, "everything it can write")->type_name("SIZE");
  command
      ->add_option(
          "--network", flags->network,
          "what it may reach, within its organization's policy: none, packages, open, allow:HOST[:PORT],... or a file [none]")
      ->type_name("POLICY");
  command->add_option("--credential", flags->credentials, "a credential that the gate gives to its requests")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command->add_option("--metadata", flags->metadata, "a note to find it by")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  add_env_flag(*command, flags->variables);
  add_json_flag(*command, context, "print the sandbox");
  command->callback([flags, &context] { context.status = create(*flags, context.settings); });
}

void add_exec_in(CLI::App* parent, const std::shared_ptr<SandboxFlags>& flags, Context& context) {
  CLI::App* const command = subcommand(parent, "exec", "Run a command in a sandbox", flags);
  command->add_option("id", flags->id, "the sandbox")->required()->type_name("ID");
  command->add_flag("-i,--interactive", flags->input, "pass our stdin on; with --json it is read to its end before");
  command->add_option("-u,--user", flags->user, "as this user inside")->type_name("USER");
  command->add_option("-w,--workdir", flags->directory, "working directory")->type_name("DIR");
  command->add_option("--timeout", flags->timeout, "kill it after this time [never]")->type_name("TIME");
  add_env_flag(*command, flags->variables);
  add_json_flag(*command, context, "print {exit_status, stdout, stderr, duration_ms, ...} at the end");
  command->callback([flags, &context] { context.status = exec(*flags, context.settings, context.after_dashes); });
}

}  // namespace

void add_sandbox(CLI::App& app, Context& context) {
  auto flags = std::make_shared<SandboxFlags>();
  CLI::App* const parent = add_subcommand(app, "sandbox", "Sandboxes that live in the running server");
  parent->footer(kFooter);
  parent->require_subcommand(1);
  add_create(parent, flags, context);
  add_exec_in(parent, flags, context);
  add_sandbox_code(*parent, context);
  add_sandbox_url(*parent, context);

  CLI::App* const list_command = subcommand(parent, "ls", "List sandboxes that live or can be started again", flags);
  list_command->add_option("--state", flags->state, "only in these states, e.g. running,paused or stopped")
      ->type_name("STATE");
  add_json_flag(*list_command, context, "print [{id, state, ...}]");
  list_command->callback([flags, &context] { context.status = list(*flags, context.settings); });

  CLI::App* const shell_command = subcommand(parent, "shell", "A terminal in a sandbox", flags);
  shell_command->add_option("id", flags->id, "the sandbox")->required()->type_name("ID");
  shell_command->add_option("-u,--user", flags->user, "as this user inside")->type_name("USER");
  shell_command->add_option("-w,--workdir", flags->directory, "working directory")->type_name("DIR");
  shell_command->callback([flags, &context] { context.status = shell(*flags, context.settings); });

  CLI::App* const copy_command = subcommand(parent, "cp", "Copy a file in or out; one side is ID:PATH", flags);
  copy_command->add_option("from", flags->from, "FILE or ID:PATH; - for stdin")->required()->type_name("FROM");
  copy_command->add_option("to", flags->to, "FILE or ID:PATH; - for stdout")->required()->type_name("TO");
  copy_command->callback([flags, &context] { context.status = copy(*flags, context.settings); });

  for (const char* word : {"pause", "resume"}) {
    const bool pause = std::string_view(word) == "pause";
    CLI::App* const command =
        subcommand(parent, word, pause ? "Stop its processes where they are" : "Let a paused sandbox go on", flags);
    command->add_option("id", flags->id, "the sandbox")->required()->type_name("ID");
    add_json_flag(*command, context, "print the sandbox");
    command->callback([flags, word, &context] { context.status = tell(*flags, context.settings, word); });
  }

  add_sandbox_snapshots(parent, context);

  CLI::App* const network_command = subcommand(parent, "network", "Change what a running sandbox may reach", flags);
  network_command->footer(
      "Within what its organization and its template allow. Open connections that are no longer "
      "allowed end.");
  network_command->add_option("id", flags->id, "the sandbox")->required()->type_name("ID");
  network_command->add_option("policy", flags->network, "none, packages, open, allow:HOST[:PORT],... or a file")
      ->required()
      ->type_name("POLICY");
  add_json_flag(*network_command, context, "print the sandbox");
  network_command->callback([flags, &context] { context.status = change_network(*flags, context.settings); });

  CLI::App* const logs_command = subcommand(parent, "logs", "What happened to a sandbox lately", flags);
  logs_command->add_option("id", flags->id, "the sandbox")->required()->type_name("ID");
  add_json_flag(*logs_command, context, "print [{time, level, message}]");
  logs_command->callback([flags, &context] { context.status = logs(*flags, context.settings); });

  CLI::App* const remove_command = subcommand(parent, "rm", "End sandboxes and forget them", flags);
  remove_command->add_option("id", flags->ids, "the sandboxes")->required()->type_name("ID");
  add_json_flag(*remove_command, context, "print {removed}");
  remove_command->callback([flags, &context] { context.status = remove(*flags, context.settings); });
}

}  // namespace bj
