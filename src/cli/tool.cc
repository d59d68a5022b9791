// belljar tool: stored tools, without a server.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <boost/json/array.hpp>

#include "api/letta/shapes.h"
#include "cli/build_view.h"
#include "cli/context.h"
#include "cli/flags.h"
#include "cli/json_output.h"
#include "cli/network_flag.h"
#include "cli/open_store.h"
#include "cli/record_act.h"
#include "cli/say.h"
#include "cli/service_options.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/tool_file.h"
#include "cli/with_engine.h"
#include "tools/argument_check.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr const char* kFooter =
    R"(A tool is a Python or TypeScript function with a schema, which is derived from its signature and documentation. These
commands work on the data directory itself, whether or not a server runs.

Examples:
  belljar tool add weather.py --pip httpx
  belljar tool list
  belljar tool run weather --args '{"city": "Oslo"}'
  belljar tool rm weather)";

struct ToolFlags {
  std::string file, name, arguments, description, schema, agent, search;
  std::string network;
  std::vector<std::string> pip, npm, tags, credentials;
  std::map<std::string, std::string> variables;
};

// "httpx==0.27" as the two fields that are stored.
Result<Requirements> requirements_of(PackageKind kind, const std::vector<std::string>& texts) {
  const std::string_view between = kind == PackageKind::kPip ? "==" : "@";
  Requirements list;
  for (const std::string& text : texts) {
    BJ_CHECK(check_requirement(kind, text));
    const size_t split = text.find(between, 1);
    Requirement one;
    one.name = text.substr(0, split);
    if (split != std::string::npos) one.version = text.substr(split + between.size());
    list.push_back(std::move(one));
  }
  return list;
}

Result<ToolCreate> draft_of(const ToolFlags& flags, const Settings& settings) {
  ToolCreate draft;
  BJ_TRY(const Language language, language_of(flags.file));
  BJ_TRY(draft.source_code, read_tool(flags.file, settings.limits.argument_bytes));
  draft.source_type = language == Language::kPython ? "python" : "typescript";
  if (!flags.description.empty()) draft.description = flags.description;
  draft.tags = flags.tags;
  if (!flags.schema.empty()) {
    BJ_TRY(draft.json_schema, read_arguments(flags.schema, settings.limits.argument_bytes));
  }
  if (!flags.pip.empty()) {
    BJ_TRY(draft.pip, requirements_of(PackageKind::kPip, flags.pip));
  }
  if (!flags.npm.empty()) {
    BJ_TRY(draft.npm, requirements_of(PackageKind::kNpm, flags.npm));
  }
  return draft;
}

int report(const Error& error) {
  complain(error.what);
  return status_of(error);
}

// Runs `work` with an engine without pools and the service on top of it.
int with_service(const Settings& settings, const std::function<Task<int>(ToolService&)>& work) {
  return with_engine(settings, one_shot_options(settings), [&](Engine& engine) -> Task<int> {
    Result<ServiceOptions> options = service_options(settings);
    if (!options) co_return refuse(options.error().what);
    const auto service = ToolService::create(engine, std::move(*options));
    if (!service) co_return report(service.error());
    const int status = co_await work(**service);
    co_await (*service)->stop();
    co_return status;
  });
}

Task<int> add_to(ToolService& service, ToolCreate draft, const Settings& settings) {
  if (draft.source_type == "typescript" && !draft.json_schema) {
    const Result<json::object> derived =
        co_await service.catalog().derive({draft.source_code, "typescript", "", nullptr});
    if (!derived) co_return report(derived.error());
    draft.json_schema = *derived;
  }
  const Result<ToolRow> tool = co_await service.catalog().put(local_actor(), std::move(draft), {});
  if (!tool) co_return report(tool.error());
  if (settings.json) {
    print_json(letta::tool_json(*tool));
  } else {
    print_untrusted(STDOUT_FILENO, fmt::format("{}  {}\n", tool->id, tool->name));
  }
  co_return kExitOk;
}

int add(const ToolFlags& flags, const Settings& settings) {
  const Result<ToolCreate> draft = draft_of(flags, settings);
  if (!draft) return refuse(draft.error().what);
  return with_service(settings, [&](ToolService& service) { return add_to(service, *draft, settings); });
}

int list(const ToolFlags& flags, const Settings& settings) {
  return with_store(settings, [&](Store& store) -> Result<void> {
    ToolFilter filter;
    if (!flags.search.empty()) filter.search = flags.search;
    BJ_TRY(const std::vector<ToolRow> tools, store.tools().list(local_actor().organization, filter, {}));
    json::array all;
    std::vector<std::vector<std::string>> rows;
    for (const ToolRow& tool : tools) {
      all.push_back(letta::tool_json(tool));
      rows.push_back({tool.id, tool.name, tool.source_type, tool.description.value_or("")});
    }
    if (settings.json) {
      print_json(all);
    } else {
      print_table({"ID", "NAME", "LANGUAGE", "DESCRIPTION"}, rows, "there are no tools: belljar tool add FILE");
    }
    return {};
  });
}

// By its name or its id.
Result<ToolRow> find(Store& store, const std::string& name) {
  const std::string organization = local_actor().organization;
  BJ_TRY(std::optional<ToolRow> named, store.tools().find_by_name(organization, name));
  if (named) return std::move(*named);
  Result<ToolRow> by_id = store.tools().get(organization, name);
  if (by_id || by_id.error().code != Code::kNotFound) return by_id;
  return fail(Code::kNotFound, "there is no tool \"" + name + "\"; `belljar tool list` shows all");
}

int remove(const ToolFlags& flags, const Settings& settings) {
  return with_store(settings, [&](Store& store) -> Result<void> {
    BJ_TRY(const ToolRow tool, find(store, flags.name));
    BJ_CHECK(store.tools().remove(local_actor().organization, tool.id));
    BJ_CHECK(record_act(store, settings.data_directory, local_actor(), "tool.remove", tool.id, {{"name", tool.name}}));
    if (settings.json) print_json({{"removed", tool.id}});
    return {};
  });
}

json::object outcome_json(const RunOutcome& outcome) {
  return {{"call_id", outcome.call_id},
          {"status", status_name(outcome.status)},
          {"return", outcome.success ? outcome.value : json::value(nullptr)},
          {"error", outcome.success ? json::value(nullptr) : outcome.value},
          {"stdout", outcome.output.empty() ? "" : outcome.output.front()},
          {"stderr", outcome.error_output.empty() ? "" : outcome.error_output.front()},
          {"duration_ms", rounded_ms(outcome.duration_ms)},
          {"limits_hit", json::array(outcome.limits_hit.begin(), outcome.limits_hit.end())},
          {"provider", outcome.provider},
          {"network", network_json(outcome)}};
}

void print_outcome(const RunOutcome& outcome) {
  for (const std::string& text : outcome.output) print_untrusted(STDOUT_FILENO, text);
  for (const std::string& text : outcome.error_output) print_untrusted(STDERR_FILENO, text);
  if (outcome.success) {
    print_untrusted(STDOUT_FILENO, json_text(outcome.value) + "\n");
  } else if (outcome.value.is_string()) {
    complain(std::string(outcome.value.get_string()));
  }
}

Task<int> run_in(ToolService& service, RunRequest request, const Settings& settings) {
  request.actor = local_actor();
  BuildView view(ShowBuild::kOnTerminal);
  request.hooks.on_progress = [&view](const BuildProgress& step) { view.show(step); };
  const Result<RunOutcome> outcome = co_await service.runner().run(std::move(request));
  view.end();
  if (!outcome) co_return report(outcome.error());
  if (settings.json) {
    print_json(outcome_json(*outcome));
  } else {
    print_outcome(*outcome);
  }
  if (!outcome->answered) co_return kExitSandbox;
  co_return outcome->success ? kExitOk : outcome->status == CallStatus::kTimeout ? kExitTimeout : kExitFailed;
}

Result<NetworkWish> wish_of(const ToolFlags& flags) {
  json::object wish;
  if (!flags.network.empty()) {
    BJ_TRY(wish["network"], network_policy_json(flags.network));
  }
  wish["credentials"] = json::array(flags.credentials.begin(), flags.credentials.end());
  BJ_CHECK(check_network_wish(wish, "call"));
  return read_network_wish(wish, "call");
}

int run(const ToolFlags& flags, const Settings& settings) {
  RunRequest request;
  const Result<json::object> arguments = read_arguments(flags.arguments, settings.limits.argument_bytes);
  if (!arguments) return refuse(arguments.error().what);
  request.arguments = *arguments;
  request.variables = flags.variables;
  if (!flags.agent.empty()) request.agent_id = flags.agent;
  const Result<NetworkWish> wish = wish_of(flags);
  if (!wish) return refuse(wish.error().what);
  request.network = *wish;
  const int found = with_store(settings, [&](Store& store) -> Result<void> {
    BJ_TRY(request.tool, find(store, flags.name));
    return check_tool_arguments(request.tool, request.arguments);
  });
  if (found != kExitOk) return found;
  return with_service(settings, [&](ToolService& service) { return run_in(service, request, settings); });
}

}  // namespace

void add_tool(CLI::App& app, Context& context) {
  auto flags = std::make_shared<ToolFlags>();
  CLI::App* const command = add_subcommand(app, "tool", "Store, list, run and remove tools");
  command->footer(kFooter);
  command->require_subcommand(1);

  CLI::App* const add_command = add_subcommand(*command, "add", "Store a tool, or overwrite the one of its name");
  add_command->add_option("file", flags->file, "its source: .py or .ts")->required()->type_name("FILE");
  add_command->add_option("--description", flags->description, "instead of its documentation's")->type_name("TEXT");
  add_command->add_option("--schema", flags->schema, "its JSON schema instead of a derived one: JSON or @FILE")
      ->type_name("JSON");
  add_command->add_option("--pip", flags->pip, "a Python package it needs")
      ->type_name("NAME[==VERSION]")
      ->allow_extra_args(false);
  add_command->add_option("--npm", flags->npm, "an npm package it needs")
      ->type_name("NAME[@VERSION]")
      ->allow_extra_args(false);
  add_command->add_option("--tag", flags->tags, "a tag")->type_name("TAG")->allow_extra_args(false);
  add_json_flag(*add_command, context, "print the stored tool");
  add_command->callback([flags, &context] { context.status = add(*flags, context.settings); });

  CLI::App* const list_command = add_subcommand(*command, "list", "All tools");
  list_command->add_option("--search", flags->search, "only those whose name contains this")->type_name("TEXT");
  add_json_flag(*list_command, context, "print [{id, name, ...}]");
  list_command->callback([flags, &context] { context.status = list(*flags, context.settings); });

  CLI::App* const run_command = add_subcommand(*command, "run", "Run a stored tool in a fresh sandbox");
  run_command->add_option("tool", flags->name, "its name or id")->required()->type_name("TOOL");
  run_command->add_option("-a,--args", flags->arguments, "arguments: a JSON object, @FILE, or - for stdin")
      ->type_name("JSON");
  run_command->add_option("--agent", flags->agent, "for this agent: its memory and its secrets")->type_name("ID");
  add_env_flag(*run_command, flags->variables);
  run_command
      ->add_option("--network", flags->network,
                   "what it may reach, within what the organization allows: none, packages, open, "
                   "allow:HOST[:PORT],..., JSON or a file of it")
      ->type_name("POLICY");
  run_command->add_option("--credential", flags->credentials, "a credential that the gate gives to its requests")
      ->type_name("NAME")
      ->allow_extra_args(false);
  add_json_flag(*run_command, context,
                "print {call_id, status, return, error, stdout, stderr, duration_ms, limits_hit, provider, network}");
  add_sandbox_flags(*run_command, context);
  add_limit_flags(*run_command, context);
  run_command->callback([flags, &context] { context.status = run(*flags, context.settings); });

  CLI::App* const remove_command = add_subcommand(*command, "rm", "Remove a tool");
  remove_command->add_option("tool", flags->name, "its name or id")->required()->type_name("TOOL");
  add_json_flag(*remove_command, context, "print {removed}");
  remove_command->callback([flags, &context] { context.status = remove(*flags, context.settings); });
}

}  // namespace bj
