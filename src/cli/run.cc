// belljar run: one call of one tool, without a server.
#include <unistd.h>

#include <CLI/App.hpp>

#include "cli/build_view.h"
#include "cli/context.h"
#include "cli/credential_flag.h"
#include "cli/environment.h"
#include "cli/flags.h"
#include "cli/json_output.h"
#include "cli/limit_sentences.h"
#include "cli/network_flag.h"
#include "cli/say.h"
#include "cli/seal_text.h"
#include "cli/terminal.h"
#include "cli/tool_file.h"
#include "cli/with_engine.h"

namespace bj {
namespace {

constexpr const char* kFooter =
    R"(The tool's function is the file's last public one, or --name. What it prints goes to stdout and stderr, its return value
follows as one line of JSON on stdout. Control characters are shown, not sent, where output goes to a terminal.

Exit status: 0 success, 1 the tool failed or hit a limit, 2 wrong usage or arguments, 3 the sandbox could not be made,
124 timeout.

Examples:
  belljar run weather.py --args '{"city": "Oslo"}'
  belljar run greet.ts --args @args.json --json
  echo '{"a": 1, "b": 2}' | belljar run add.py --args - --timeout 5s --memory 256M
  belljar run model.py --venv .venv --preload pydantic --env TOKEN
  belljar run model.py --pip 'pydantic>=2' --pip numpy
  belljar run chart.ts --npm lodash@4
  belljar run weather.py --network allow:api.example.com --json)";

struct RunFlags {
  std::string file, arguments, name, venv, interpreter;
  std::vector<std::string> pip, npm;
  std::map<std::string, std::string> variables;
  std::vector<std::string> preload;
  NetworkPolicy network;
  GateCredentials credentials;
  bool system_packages = false;
};

Result<void> check_packages(const RunFlags& flags, Language language) {
  if (!flags.pip.empty() && !flags.venv.empty()) {
    return fail(Code::kInvalid, "--pip and --venv can't be used together: both are where packages come from");
  }
  if (!flags.pip.empty() && language != Language::kPython) {
    return fail(Code::kInvalid, "--pip is for Python tools: a TypeScript tool's packages come by --npm");
  }
  if (!flags.npm.empty() && language != Language::kTypeScript) {
    return fail(Code::kInvalid, "--npm is for TypeScript tools: a Python tool's packages come by --pip");
  }
  return {};
}

// What can be wrong before there is an engine.
Result<CallSpec> prepare(const RunFlags& flags, const Settings& settings) {
  CallSpec call;
  call.limits = settings.limits;
  call.require_full_seal = settings.require_full_seal;
  call.filename = flags.file;
  call.name = flags.name;
  call.variables = flags.variables;
  call.network = flags.network;
  call.credentials = flags.credentials;
  call.environment.preload = flags.preload;
  BJ_TRY(call.language, language_of(flags.file));
  BJ_TRY(call.source, read_tool(flags.file, settings.limits.argument_bytes));
  BJ_TRY(call.arguments, read_arguments(flags.arguments, settings.limits.argument_bytes));
  BJ_CHECK(check_packages(flags, call.language));
  if (flags.system_packages) {
    if (settings.template_name != "base") {
      return fail(Code::kInvalid,
                  "--system-packages is for the base template: others have their own interpreter and packages");
    }
    call.environment.site_dirs = system_packages();
  }
  if (!flags.venv.empty()) {
    BJ_TRY(call.environment.host_packages, packages_directory(flags.venv));
    call.environment.site_dirs.insert(call.environment.site_dirs.begin(), kPackagesInside);
  }
  return call;
}

int status_of(CallStatus status) {
  switch (status) {
    case CallStatus::kOk: return kExitOk;
    case CallStatus::kInvalid: return kExitUsage;
    case CallStatus::kTimeout: return kExitTimeout;
    case CallStatus::kError:
    case CallStatus::kLimit: return kExitFailed;
  }
  return kExitFailed;
}

std::string ended(std::string text) {
  if (!text.empty() && text.back() != '\n') text += '\n';
  return text;
}

std::string cut_note(const std::string& kept, uint64_t dropped) {
  if (dropped == 0) return {};
  return "[output cut: " + std::to_string(kept.size()) + " of " + std::to_string(kept.size() + dropped) +
         " bytes shown]\n";
}

std::string error_text(const CallError& error) {
  const std::string& trace = error.traceback;
  const std::string summary = error.name + (error.message.empty() ? "\n" : ": ");
  // Python's traceback ends with the summary, Node's stack begins with it.
  if (trace.starts_with(summary) || trace.find("\n" + summary) != std::string::npos) return ended(trace);
  return ended(trace) + ended(summary + error.message);
}

void print_human(const CallResult& result, const Limits& limits) {
  print_untrusted(STDOUT_FILENO, ended(result.output));
  print_untrusted(STDERR_FILENO, ended(result.error_output));
  print_untrusted(STDERR_FILENO, cut_note(result.output, result.output_dropped));
  print_untrusted(STDERR_FILENO, cut_note(result.error_output, result.error_output_dropped));
  if (!result.seal.full()) complain(seal_warning(result.seal));
  if (result.network) complain_about_network(*result.network);
  if (result.status == CallStatus::kOk) {
    print_untrusted(STDOUT_FILENO, json_text(result.value) + "\n");
  } else {
    print_untrusted(STDERR_FILENO, error_text(result.error));
  }
  if (result.status != CallStatus::kError) return;  // of the others the error itself tells
  for (const std::string& limit : result.limits_hit) {
    if (const std::string sentence = limit_sentence(limit, limits, "the call"); !sentence.empty()) complain(sentence);
  }
}

int report_failure(const Error& error, bool as_json) {
  const int status = status_of(error);
  if (as_json) print_json(failed_call_json(status == kExitUsage ? "invalid" : "unavailable", error.what));
  complain(error.what);
  return status;
}

// The packages of --pip or --npm, installed now unless they are already.
Task<Result<void>> add_packages(Engine& engine, CallSpec& spec, std::vector<std::string> requirements) {
  EnvironmentRequest request;
  request.language = spec.language;
  request.image = spec.environment.image;
  request.interpreter = spec.environment.interpreter;
  request.requirements = requirements;
  request.index = index_settings();
  Result<Environment> environment =
      co_await ensure_shown(engine, std::move(request), Force::kNo, ShowBuild::kOnTerminal);
  if (!environment) co_return tl::unexpected(install_error(spec.language, requirements, environment.error()));
  environment->apply_to(spec.environment);
  spec.variables.merge(environment->variables);  // the user's own win
  co_return Result<void>();
}

Task<int> call_once(Engine& engine, CallSpec spec, const Settings& settings, const RunFlags& flags) {
  const Result<Template> image = engine.templates().find(settings.template_name);
  if (!image) co_return report_failure(image.error(), settings.json);
  spec.environment.image = *image;
  spec.environment.interpreter = interpreter_for(settings, flags.interpreter);
  const bool as_json = settings.json;
  if (const auto& requirements = flags.pip.empty() ? flags.npm : flags.pip; !requirements.empty()) {
    const Result<void> added = co_await add_packages(engine, spec, requirements);
    if (co_await interrupted()) co_return kExitFailed;
    if (!added) co_return report_failure(added.error(), as_json);
  }
  const Result<CallResult> result = co_await engine.call(std::move(spec));
  if (co_await interrupted()) co_return kExitFailed;
  if (!result) co_return report_failure(result.error(), as_json);
  if (as_json) {
    print_json(call_json(*result));
  } else {
    print_human(*result, settings.limits);
  }
  co_return status_of(result->status);
}

int run(const RunFlags& flags, const Settings& settings) {
  Result<CallSpec> call = prepare(flags, settings);
  if (!call) return refuse(call.error().what);
  return with_engine(settings, one_shot_options(settings),
                     [&](Engine& engine) { return call_once(engine, *call, settings, flags); });
}

}  // namespace

void add_run(CLI::App& app, Context& context) {
  auto flags = std::make_shared<RunFlags>();
  CLI::App* const command = add_subcommand(app, "run", "Run a Python or TypeScript tool once, in a fresh sandbox");
  command->footer(kFooter);
  command->add_option("file", flags->file, "the tool's source: .py, .ts, .mts, .cts, .js, .mjs, .cjs")
      ->required()
      ->type_name("FILE");
  command->add_option("-a,--args", flags->arguments, "arguments: a JSON object, @FILE, or - for stdin")
      ->type_name("JSON");
  command->add_option("--name", flags->name, "the function to call [the last public one]")->type_name("NAME");
  add_env_flag(*command, flags->variables);
  command->add_option("--venv", flags->venv, "a virtual environment or directory of Python packages, mounted read-only")
      ->type_name("DIR");
  add_requirement_flags(*command, flags->pip, flags->npm);
  add_network_flag(*command, flags->network);
  add_credential_flag(*command, flags->credentials);
  command->add_flag("--system-packages", flags->system_packages,
                    "let the tool import the system's own Python packages");
  command->add_option("--preload", flags->preload, "a module to import before the call is timed")
      ->type_name("MODULE")
      ->allow_extra_args(false);
  command->add_option("--interpreter", flags->interpreter, "Python in the template [python3]")->type_name("PATH");
  add_json_flag(*command, context,
                "print {status, return, error, stdout, stderr, duration_ms, limits_hit, seal, network}");
  add_sandbox_flags(*command, context);
  add_limit_flags(*command, context);
  command->callback([flags, &context] { context.status = run(*flags, context.settings); });
}

}  // namespace bj
