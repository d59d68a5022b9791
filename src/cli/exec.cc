// belljar exec: one command in a fresh sandbox, its streams joined to ours.
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/App.hpp>

#include "cli/context.h"
#include "cli/credential_flag.h"
#include "cli/exec_session.h"
#include "cli/flags.h"
#include "cli/json_output.h"
#include "cli/network_flag.h"
#include "cli/say.h"
#include "cli/with_engine.h"
#include "sys/files.h"
#include "sys/names.h"

namespace bj {
namespace {

constexpr const char* kFooter =
    R"(Everything after -- (or from the first word that is no option) is the command. It runs as `user` (uid 1000) in its home;
when it ends, so do all other processes of the sandbox, and its files are gone. With -t there is no wall time limit
unless you set one, and the command can send control sequences to your terminal; without -t they are shown, not sent.

Exit status: the command's own; 128 + N if signal N killed it; 126 it can't be executed, 127 there is no such command;
besides: 2 wrong usage, 3 the sandbox could not be made, 124 timeout.

Examples:
  belljar exec -- sh -c 'echo hi; id; ls /'
  belljar exec -it -- bash
  belljar exec --network allow:api.example.com,*.example.org:8443 -- curl https://api.example.com/
  belljar exec --network allow:api.example.com --credential demo=@token.txt:api.example.com -- curl https://api.example.com/me
  tar c src | belljar exec -i -- sh -c 'tar x && ls src'
  belljar exec --mount "$PWD:/mnt:rw" --workdir /mnt --user root -- make)";

// The command is no option of the parser's, so its help would not mention it.
class ExecHelp : public CLI::Formatter {
 public:
  ExecHelp() { column_width(kHelpColumn); }
  std::string make_usage(const CLI::App*, std::string) const override {
    return "Usage: belljar exec [OPTIONS] [--] COMMAND...\n\n";
  }
};

// SRC:DST[:ro|:rw]
Result<MountSpec> parse_mount(const std::string& text) {
  const size_t first = text.find(':');
  const size_t second = first == std::string::npos ? first : text.find(':', first + 1);
  MountSpec mount;
  mount.source = text.substr(0, first);
  mount.target = first == std::string::npos
                     ? ""
                     : text.substr(first + 1, second == std::string::npos ? second : second - first - 1);
  const std::string mode = second == std::string::npos ? "ro" : text.substr(second + 1);
  if (mount.source.empty() || !mount.target.starts_with("/") || (mode != "ro" && mode != "rw")) {
    return fail(Code::kInvalid,
                "\"" + text + "\" is not SOURCE:TARGET or SOURCE:TARGET:rw, the target an absolute path");
  }
  Result<std::string> resolved = real_path(mount.source);
  if (!resolved) {
    return fail(Code::kInvalid, "\"" + mount.source + "\" can't be mounted: " + std::strerror(resolved.error().sys));
  }
  mount.source = std::move(*resolved);
  mount.writable = mode == "rw";
  return mount;
}

Result<void> check(const ExecRequest& request, const Settings& settings) {
  if (request.command.empty()) return fail(Code::kInvalid, "which command? e.g. belljar exec -- ls -l /");
  if (!request.credentials.empty() && request.network.allows_nothing())
    return fail(Code::kInvalid, "--credential needs a --network that allows its host");
  if (!request.terminal) return {};
  if (settings.json)
    return fail(Code::kInvalid, "--json and -t don't go together: a terminal has no separate output to print");
  if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDOUT_FILENO) == 0) {
    return fail(Code::kInvalid, "-t needs a terminal on stdin and stdout; leave it out to use pipes");
  }
  return {};
}

int exec(ExecRequest request, const Settings& settings) {
  if (const Result<void> good = check(request, settings); !good)
    return refuse(good.error().what + " (see `belljar exec --help`)");
  return with_engine(settings, one_shot_options(settings),
                     [&](Engine& engine) { return execute(engine, request, settings); });
}

}  // namespace

void add_exec(CLI::App& app, Context& context) {
  auto request = std::make_shared<ExecRequest>();
  CLI::App* const command = add_subcommand(app, "exec", "Run any command in a fresh sandbox");
  command->footer(kFooter);
  command->formatter(std::make_shared<ExecHelp>());
  command->fallthrough(false);
  command->prefix_command();
  add_global_flags(*command, context);
  command->add_flag("-i,--interactive", request->input, "pass our stdin on");
  command->add_flag("-t,--tty", request->terminal, "give the command a terminal");
  command->add_option("-u,--user", request->user, "user inside: a name or number [user]")->type_name("USER");
  command->add_option("-w,--workdir", request->directory, "working directory [the template's, else the user's home]")
      ->type_name("DIR");
  add_env_flag(*command, request->environment);
  add_network_flag(*command, request->network);
  add_credential_flag(*command, request->credentials);
  const auto add_mounts = [request](const std::vector<std::string>& list) {
    for (const std::string& text : list) {
      Result<MountSpec> mount = parse_mount(text);
      if (!mount) throw CLI::ValidationError("--mount", mount.error().what);
      request->mounts.push_back(std::move(*mount));
    }
  };
  command
      ->add_option_function<std::vector<std::string>>("--mount", add_mounts,
                                                      "show a directory of this machine inside, read-only unless :rw")
      ->type_name("SOURCE:TARGET[:rw]")
      ->allow_extra_args(false);
  add_json_flag(*command, context,
                "print {status, exit_status, stdout, stderr, duration_ms, limits_hit, seal} at the end");
  add_sandbox_flags(*command, context);
  add_limit_flags(*command, context);
  command->callback([request, command, &context] {
    request->command = command->remaining();
    if (!request->command.empty() && request->command.front().starts_with("-")) {
      context.status = refuse("exec has no option \"" + request->command.front() + "\" (see `belljar exec --help`)");
      return;
    }
    if (!request->command.empty() && !context.after_dashes.empty()) request->command.emplace_back("--");
    request->command.insert(request->command.end(), context.after_dashes.begin(), context.after_dashes.end());
    context.status = exec(*request, context.settings);
  });
}

}  // namespace bj
