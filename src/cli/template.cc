// belljar template: what sandboxes' roots are made of.
#include "engine/template.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <boost/json/array.hpp>

#include "cli/context.h"
#include "cli/flags.h"
#include "cli/json_output.h"
#include "cli/say.h"
#include "cli/sizes.h"
#include "cli/terminal.h"
#include "cli/with_engine.h"
#include "engine/template_import.h"
#include "sys/files.h"

namespace bj {
namespace {

constexpr const char* kFooter =
    R"(`base` is a read-only view of this machine's own system and made at its first use; others are imported.

Examples:
  belljar template list
  docker save python:3.12-slim -o python.tar && belljar template import python python.tar
  belljar template import alpine alpine-minirootfs-3.20.0-x86_64.tar.gz
  belljar exec --template alpine -- cat /etc/os-release
  belljar template rm alpine)";

TemplateStore store(const Settings& settings) { return TemplateStore(settings.data_directory + "/templates"); }

int report(const Error& error) {
  complain(error.what);
  return status_of(error);
}

int list(const Settings& settings) {
  const auto names = store(settings).names();
  if (!names) return report(names.error());
  boost::json::array all;
  for (const std::string& name : *names) {
    all.push_back(boost::json::object{{"name", name}});
    if (!settings.json) print_untrusted(STDOUT_FILENO, name + "\n");
  }
  if (settings.json) print_json(all);
  return kExitOk;
}

int remove(const std::string& name, const Settings& settings) {
  const Result<void> removed = store(settings).remove(name);
  return removed ? kExitOk : report(removed.error());
}

// One line that rewrites itself on a terminal, nothing elsewhere.
void show_progress(const ImportProgress& progress) {
  if (::isatty(STDERR_FILENO) == 0) return;
  std::string line = fmt::format("\r\033[K{} entries, {}", progress.entries, format_size(progress.bytes));
  if (progress.layers > 1) line += fmt::format(", layer {} of {}", progress.layer, progress.layers);
  (void)write_all(STDERR_FILENO, line, "progress");
}

void end_progress() {
  if (::isatty(STDERR_FILENO) != 0) (void)write_all(STDERR_FILENO, "\r\033[K", "progress");
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

void add_template(CLI::App& app, Context& context) {
  CLI::App* const command = app.add_subcommand("template", "List, import and remove what sandboxes are made of");
  command->footer(kFooter);
  command->require_subcommand(1);

  CLI::App* const list_command = command->add_subcommand("list", "Names of all templates");
  add_json_flag(*list_command, context, "print [{name}]");
  list_command->callback([&context] { context.status = list(context.settings); });

  auto name = std::make_shared<std::string>();
  auto source = std::make_shared<std::string>();
  CLI::App* const import_command =
      command->add_subcommand("import", "Make a template of a root filesystem or an image");
  import_command->footer(
      "Everything in the file is taken as hostile; devices, set-id bits and extended attributes are left out.");
  import_command->add_option("name", *name, "what it shall be called: a-z, 0-9, . _ -")->required()->type_name("NAME");
  import_command
      ->add_option("file", *source, "a directory, a tar, a docker-archive (docker save) or an OCI archive or layout")
      ->required()
      ->type_name("FILE");
  import_command->callback([name, source, &context] { context.status = import(*name, *source, context.settings); });

  CLI::App* const remove_command = command->add_subcommand("rm", "Remove a template");
  remove_command->add_option("name", *name, "which")->required()->type_name("NAME");
  remove_command->callback([name, &context] { context.status = remove(*name, context.settings); });
}

}  // namespace bj
