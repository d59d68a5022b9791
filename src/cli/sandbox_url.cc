// belljar sandbox url: where a port of a sandbox is found from outside.
#include "cli/sandbox_url.h"

#include <unistd.h>

#include <CLI/App.hpp>
#include <boost/json/object.hpp>

#include "cli/context.h"
#include "cli/flags.h"
#include "cli/json_output.h"
#include "cli/say.h"
#include "cli/server_client.h"
#include "cli/sizes.h"
#include "cli/terminal.h"
#include "cli/with_engine.h"

namespace bj {
namespace {

struct UrlFlags {
  std::string server, id, time;
  uint16_t port = 0;
  bool is_public = false, is_private = false, path = false;
};

Result<int> show(ServerClient& server, const UrlFlags& flags, bool json) {
  std::string path = "/v1/sandboxes/" + ServerClient::escaped(flags.id) + "/url?port=" + std::to_string(flags.port);
  if (!flags.time.empty()) {
    BJ_TRY(const uint64_t ms, parse_duration_ms(flags.time));
    path += "&for=" + std::to_string((ms + 999) / 1000);
  }
  if (flags.is_public || flags.is_private) path += flags.is_public ? "&access=public" : "&access=private";
  BJ_TRY(const boost::json::value answer, server.ask(flags.is_public || flags.is_private ? "POST" : "GET", path));
  if (json) {
    print_json(answer);
    return kExitOk;
  }
  const boost::json::value* const url =
      answer.is_object() ? answer.get_object().if_contains(flags.path ? "path_url" : "url") : nullptr;
  if (url == nullptr || !url->is_string()) return fail(Code::kInvalid, "the server's answer has no url");
  print_untrusted(STDOUT_FILENO, std::string(url->get_string()) + "\n");
  return kExitOk;
}

}  // namespace

void add_sandbox_url(CLI::App& parent, Context& context) {
  auto flags = std::make_shared<UrlFlags>();
  CLI::App* const command =
      add_subcommand(parent, "url", "Where a port of a sandbox is found from outside; a link that opens it");
  command->add_option("--server", flags->server, "the server's url [BELLJAR_SERVER, else that of the data directory]")
      ->type_name("URL");
  command->add_option("id", flags->id, "the sandbox")->required()->type_name("ID");
  command->add_option("port", flags->port, "the port inside")
      ->required()
      ->type_name("PORT")
      ->check(CLI::Range(1, 65535));
  command->add_option("--for", flags->time, "how long the link opens it [for ever]")->type_name("TIME");
  CLI::Option* const open = command->add_flag("--public", flags->is_public, "let everybody in who has the address");
  command->add_flag("--private", flags->is_private, "ask for a token again")->excludes(open);
  command->add_flag("--path", flags->path, "below the server's own address: for who has no names for sandboxes");
  add_json_flag(*command, context, "print {url, path_url, access, token}");
  command->callback([flags, &context] {
    Result<ServerClient> server = ServerClient::open(context.settings, flags->server);
    const Result<int> status =
        server ? show(*server, *flags, context.settings.json) : Result<int>(tl::unexpected(server.error()));
    if (!status) complain(status.error().what);
    const auto failed = [](const Error& error) {
      return error.code == Code::kInvalid || error.code == Code::kNotFound ? kExitUsage : status_of(error);
    };
    context.status = status ? *status : failed(status.error());
  });
}

}  // namespace bj
