#include "cli/sandbox_snapshots.h"

#include <fmt/format.h>
#include <unistd.h>

#include <boost/json/array.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/flags.h"
#include "cli/json_output.h"
#include "cli/say.h"
#include "cli/server_client.h"
#include "cli/sizes.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/with_server.h"

namespace bj {
namespace {

namespace json = boost::json;

struct SnapshotFlags {
  std::string server, id, name, snapshot, timeout;
  int64_t count = 1;
  std::vector<std::string> removed;
};

std::string path_of(const std::string& id) { return "/v1/sandboxes/" + ServerClient::escaped(id); }

int tell(const SnapshotFlags& flags, const Settings& settings, const char* word) {
  return with_server(flags.server, settings, [&](ServerClient& server) -> Result<int> {
    BJ_TRY(const json::value answer, server.ask("POST", path_of(flags.id) + "/" + word));
    if (settings.json) print_json(answer);
    return kExitOk;
  });
}

int snapshot(const SnapshotFlags& flags, const Settings& settings) {
  return with_server(flags.server, settings, [&](ServerClient& server) -> Result<int> {
    json::object body;
    if (!flags.name.empty()) body["name"] = flags.name;
    BJ_TRY(const json::value made, server.ask("POST", path_of(flags.id) + "/snapshots", body));
    if (settings.json) {
      print_json(made);
    } else {
      print_untrusted(STDOUT_FILENO, text_at(made, "id") + "\n");
    }
    return kExitOk;
  });
}

Result<int> remove_snapshots(ServerClient& server, const SnapshotFlags& flags, const Settings& settings) {
  for (const std::string& one : flags.removed) {
    BJ_CHECK(server.ask("DELETE", "/v1/snapshots/" + ServerClient::escaped(one)));
    if (settings.json) print_json({{"removed", one}});
  }
  return kExitOk;
}

int snapshots(const SnapshotFlags& flags, const Settings& settings) {
  return with_server(flags.server, settings, [&](ServerClient& server) -> Result<int> {
    if (!flags.removed.empty()) return remove_snapshots(server, flags, settings);
    std::string path = "/v1/snapshots?limit=1000";
    if (!flags.id.empty()) path += "&sandbox=" + ServerClient::escaped(flags.id);
    BJ_TRY(const json::value all, server.ask("GET", path));
    if (settings.json) {
      print_json(all);
      return kExitOk;
    }
    std::vector<std::vector<std::string>> rows;
    if (all.is_array()) {
      for (const json::value& one : all.get_array()) {
        const json::value* const size = one.is_object() ? one.get_object().if_contains("size_bytes") : nullptr;
        rows.push_back(
            {text_at(one, "id"), text_at(one, "name"), text_at(one, "sandbox"),
             text_at(one, "created_at").substr(0, 19),
             size != nullptr && size->is_int64() ? format_size(static_cast<uint64_t>(size->get_int64())) : ""});
      }
    }
    print_table({"ID", "NAME", "OF SANDBOX", "CREATED (UTC)", "SIZE"}, rows,
                "there are no snapshots: belljar sandbox snapshot ID");
    return kExitOk;
  });
}

// Ids of those that were made on stdout, what could not be made on stderr.
int fork(const SnapshotFlags& flags, const Settings& settings) {
  json::object body{{"count", flags.count}};
  if (!flags.timeout.empty()) {
    const Result<uint64_t> ms = parse_duration_ms(flags.timeout);
    if (!ms) return refuse(ms.error().what);
    body["timeout"] = (*ms + 999) / 1000;
  }
  return with_server(flags.server, settings, [&](ServerClient& server) -> Result<int> {
    BJ_TRY(const json::value made, server.ask("POST", path_of(flags.id) + "/fork", body));
    if (settings.json) print_json(made);
    int status = kExitOk;
    if (!made.is_array()) return status;
    for (const json::value& one : made.get_array()) {
      const std::string error = text_at(one, "error");
      if (!error.empty()) status = kExitFailed;
      if (settings.json) continue;
      if (error.empty()) {
        print_untrusted(STDOUT_FILENO, text_at(one, "id") + "\n");
      } else {
        complain(error);
      }
    }
    return status;
  });
}

int rollback(const SnapshotFlags& flags, const Settings& settings) {
  return with_server(flags.server, settings, [&](ServerClient& server) -> Result<int> {
    const json::object body{{"snapshot", flags.snapshot}};
    BJ_TRY(const json::value answer, server.ask("POST", path_of(flags.id) + "/rollback", body));
    if (settings.json) print_json(answer);
    return kExitOk;
  });
}

using Flags = std::shared_ptr<SnapshotFlags>;

CLI::App* subcommand(CLI::App* parent, const char* name, const char* help, const Flags& flags) {
  CLI::App* const command = add_subcommand(*parent, name, help);
  command->add_option("--server", flags->server, "the server's url [BELLJAR_SERVER, else that of the data directory]")
      ->type_name("URL");
  return command;
}

void require_id(CLI::App* command, const Flags& flags) {
  command->add_option("id", flags->id, "the sandbox")->required()->type_name("ID");
}

void add_words(CLI::App* parent, const Flags& flags, Context& context) {
  for (const char* word : {"stop", "start"}) {
    const bool stop = std::string_view(word) == "stop";
    CLI::App* const command = subcommand(
        parent, word, stop ? "End its processes and keep its files" : "Start a stopped sandbox with its files", flags);
    require_id(command, flags);
    add_json_flag(*command, context, "print the sandbox");
    command->callback([flags, word, &context] { context.status = tell(*flags, context.settings, word); });
  }
}

}  // namespace

void add_sandbox_snapshots(CLI::App* parent, Context& context) {
  const auto flags = std::make_shared<SnapshotFlags>();
  add_words(parent, flags, context);

  CLI::App* const take =
      subcommand(parent, "snapshot", "Keep its files as they are now and print the snapshot's id", flags);
  require_id(take, flags);
  take->add_option("--name", flags->name, "to make sandboxes from it by: --template NAME")->type_name("NAME");
  add_json_flag(*take, context, "print the snapshot");
  take->callback([flags, &context] { context.status = snapshot(*flags, context.settings); });

  CLI::App* const list = subcommand(parent, "snapshots", "List snapshots, or forget some", flags);
  list->add_option("id", flags->id, "only of this sandbox")->type_name("ID");
  list->add_option("--rm", flags->removed, "forget this one, by id or name")->type_name("SNAPSHOT");
  add_json_flag(*list, context, "print [{id, name, ...}]");
  list->callback([flags, &context] { context.status = snapshots(*flags, context.settings); });

  CLI::App* const fork_command =
      subcommand(parent, "fork", "Make others with its files, variables and limits; prints their ids", flags);
  require_id(fork_command, flags);
  fork_command->add_option("-n,--count", flags->count, "how many [1]")->type_name("N");
  fork_command->add_option("--timeout", flags->timeout, "how long they live [as it]")->type_name("TIME");
  add_json_flag(*fork_command, context, "print [{id, ...} or {error}]");
  fork_command->callback([flags, &context] { context.status = fork(*flags, context.settings); });

  CLI::App* const back = subcommand(parent, "rollback", "Its files become a snapshot's; its processes end", flags);
  require_id(back, flags);
  back->add_option("snapshot", flags->snapshot, "its id or name")->required()->type_name("SNAPSHOT");
  add_json_flag(*back, context, "print the sandbox");
  back->callback([flags, &context] { context.status = rollback(*flags, context.settings); });
}

}  // namespace bj
