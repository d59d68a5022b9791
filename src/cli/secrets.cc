// belljar secrets: the key that secrets are encrypted under.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/App.hpp>

#include "cli/context.h"
#include "cli/flags.h"
#include "cli/json_output.h"
#include "cli/open_store.h"
#include "cli/record_act.h"
#include "cli/terminal.h"

namespace bj {
namespace {

constexpr const char* kFooter =
    R"(Environment variables of sandboxes and agents lie encrypted in the database. Their key is BELLJAR_ENCRYPTION_KEY or
LETTA_ENCRYPTION_KEY if one is set, else the file secret.key in the data directory, made at first start.

`rotate` makes a new key (or takes the one that is set now), writes every value anew under it and forgets the old one. It
may be interrupted and run again; servers may run meanwhile. Where the old key is not in the file, give it, too:
  BELLJAR_PREVIOUS_ENCRYPTION_KEY=old BELLJAR_ENCRYPTION_KEY=new belljar secrets rotate)";

int rotate(const Settings& settings) {
  return with_store(settings, [&](Store& store) -> Result<void> {
    BJ_TRY(const int64_t changed, rotate_secrets(store));
    BJ_CHECK(record_act(store, settings.data_directory, local_actor(), "secrets.rotate", "", {{"rewritten", changed}}));
    if (settings.json) {
      print_json({{"rewritten", changed}});
    } else {
      print_untrusted(STDOUT_FILENO, fmt::format("{} values are now encrypted under the new key\n", changed));
    }
    return {};
  });
}

}  // namespace

void add_secrets(CLI::App& app, Context& context) {
  CLI::App* const command = add_subcommand(app, "secrets", "Change the key that secrets are encrypted under");
  command->footer(kFooter);
  command->require_subcommand(1);
  CLI::App* const change = add_subcommand(*command, "rotate", "Encrypt every secret under a new key");
  add_json_flag(*change, context, "print {rewritten}");
  change->callback([&context] { context.status = rotate(context.settings); });
}

}  // namespace bj
