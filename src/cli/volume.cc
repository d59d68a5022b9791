// belljar volume: directories that outlive sandboxes, in the running server.
#include <unistd.h>

#include <CLI/App.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "cli/context.h"
#include "cli/flags.h"
#include "cli/json_output.h"
#include "cli/say.h"
#include "cli/sizes.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/with_server.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr const char* kFooter =
    R"(Volumes are the server's, as sandboxes are (see belljar sandbox). Each has a size that is not exceeded.

Examples:
  belljar volume create data --size 2G
  id=$(belljar sandbox create --volume data:/data)
  belljar volume rm data)";

struct VolumeFlags {
  std::string server, name, size;
  std::vector<std::string> names;
};

int create(const VolumeFlags& flags, const Settings& settings) {
  json::object body{{"name", flags.name}};
  if (!flags.size.empty()) {
    const Result<uint64_t> bytes = parse_size(flags.size);
    if (!bytes) return refuse(bytes.error().what);
    body["size_bytes"] = *bytes;
  }
  return with_server(flags.server, settings, [&](ServerClient& server) -> Result<int> {
    BJ_TRY(const json::value made, server.ask("POST", "/v1/volumes", body));
    if (settings.json) {
      print_json(made);
    } else {
      print_untrusted(STDOUT_FILENO, text_at(made, "id") + "\n");
    }
    return kExitOk;
  });
}

int list(const VolumeFlags& flags, const Settings& settings) {
  return with_server(flags.server, settings, [&](ServerClient& server) -> Result<int> {
    BJ_TRY(const json::value all, server.ask("GET", "/v1/volumes?limit=1000"));
    if (settings.json) {
      print_json(all);
      return kExitOk;
    }
    std::vector<std::vector<std::string>> rows;
    if (all.is_array()) {
      for (const json::value& one : all.get_array())
        rows.push_back({text_at(one, "id"), text_at(one, "name"),
                        format_size(one.at("size_bytes").to_number<uint64_t>()),
                        text_at(one, "created_at").substr(0, 19)});
    }
    print_table({"ID", "NAME", "SIZE", "CREATED (UTC)"}, rows, "there are no volumes: belljar volume create NAME");
    return kExitOk;
  });
}

// A volume is named by its name or its id.
Result<std::string> id_of(ServerClient& server, const std::string& name) {
  BJ_TRY(const json::value all, server.ask("GET", "/v1/volumes?limit=1000"));
  if (all.is_array()) {
    for (const json::value& one : all.get_array()) {
      if (text_at(one, "name") == name || text_at(one, "id") == name) return text_at(one, "id");
    }
  }
  return fail(Code::kNotFound, "there is no volume \"" + name + "\"");
}

int remove(const VolumeFlags& flags, const Settings& settings) {
  return with_server(flags.server, settings, [&](ServerClient& server) -> Result<int> {
    for (const std::string& name : flags.names) {
      BJ_TRY(const std::string id, id_of(server, name));
      BJ_CHECK(server.ask("DELETE", "/v1/volumes/" + ServerClient::escaped(id)));
      if (settings.json) print_json({{"removed", name}});
    }
    return kExitOk;
  });
}

CLI::App* subcommand(CLI::App* parent, const char* name, const char* help, const std::shared_ptr<VolumeFlags>& flags) {
  CLI::App* const command = add_subcommand(*parent, name, help);
  command->add_option("--server", flags->server, "the server's url [BELLJAR_SERVER, else that of the data directory]")
      ->type_name("URL");
  return command;
}

}  // namespace

void add_volume(CLI::App& app, Context& context) {
  auto flags = std::make_shared<VolumeFlags>();
  CLI::App* const parent = add_subcommand(app, "volume", "Directories that outlive sandboxes, in the running server");
  parent->footer(kFooter);
  parent->require_subcommand(1);

  CLI::App* const create_command = subcommand(parent, "create", "Create a volume and print its id", flags);
  create_command->add_option("name", flags->name, "what sandboxes know it by")->required()->type_name("NAME");
  create_command->add_option("--size", flags->size, "what it can hold [1G]")->type_name("SIZE");
  add_json_flag(*create_command, context, "print the volume");
  create_command->callback([flags, &context] { context.status = create(*flags, context.settings); });

  CLI::App* const list_command = subcommand(parent, "ls", "List volumes", flags);
  add_json_flag(*list_command, context, "print [{id, name, ...}]");
  list_command->callback([flags, &context] { context.status = list(*flags, context.settings); });

  CLI::App* const remove_command = subcommand(parent, "rm", "Remove volumes with what is in them", flags);
  remove_command->add_option("name", flags->names, "their names or ids")->required()->type_name("NAME");
  add_json_flag(*remove_command, context, "print {removed}");
  remove_command->callback([flags, &context] { context.status = remove(*flags, context.settings); });
}

}  // namespace bj
