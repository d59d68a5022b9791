#include "control/build_sandbox.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include "control/expand_variables.h"
#include "control/template_start.h"
#include "engine/environments/environment_output.h"
#include "engine/sandbox_files.h"

namespace bj {
namespace {

constexpr size_t kLastKept = 2048;
constexpr auto kBetweenChecks = std::chrono::milliseconds(250);
constexpr const char* kArchive = "/tmp/.belljar-copy";

// A directory that is missing is made, and belongs to $OWNER.
#define BJ_MAKE \
  "make() { [ -d \"$1\" ] || { make \"$(dirname \"$1\")\" && mkdir \"$1\" && chown \"$OWNER\" \"$1\"; }; }\n"

constexpr const char* kMakeWorkdir = BJ_MAKE "make \"$TARGET\"";

// By hand: not every image has useradd.
constexpr const char* kMakeUser = R"sh(set -e
taken() { while IFS=: read -r _ _ id _; do if [ "$id" = "$1" ]; then return 0; fi; done <"$2"; return 1; }
number=1000
while taken $number /etc/passwd || taken $number /etc/group; do number=$((number + 1)); done
shell=/bin/sh
if [ -x /bin/bash ]; then shell=/bin/bash; fi
echo "$NAME:x:$number:$number::/home/$NAME:$shell" >>/etc/passwd
echo "$NAME:x:$number:" >>/etc/group
mkdir -p "/home/$NAME"
if [ -d /etc/skel ]; then cp -a /etc/skel/. "/home/$NAME/"; fi
chown -R "$number:$number" "/home/$NAME")sh";

// As docker build copies: a directory's contents are merged into the target; a file goes into a target that ends with a
// slash, is a directory, or is one of several; else it becomes the target.
constexpr const char* kCopy = "set -e\n" BJ_MAKE
                              R"sh(stage=$(mktemp -d /tmp/.belljar-stage-XXXXXX)
trap 'rm -rf "$stage" "$ARCHIVE"' EXIT
tar -xf "$ARCHIVE" -C "$stage"
copy_one() {
  chown -hR -- "$OWNER" "$1"
  if [ -n "$MODE" ]; then chmod -R -- "$MODE" "$1"; fi
  if [ -d "$1" ] && [ ! -L "$1" ]; then
    make "$TARGET"
    cp -a "$1/." "$TARGET/"
    return
  fi
  into=$many
  case "$TARGET" in */) into=yes ;; esac
  if [ -d "$TARGET" ]; then into=yes; fi
  if [ "$into" = yes ]; then
    make "$TARGET"
    cp -a "$1" "$TARGET/"
  else
    make "$(dirname "$TARGET")"
    cp -a "$1" "$TARGET"
  fi
}
many=no
if [ -z "$SOURCE" ] || [ -e "$stage/$SOURCE" ] || [ -L "$stage/$SOURCE" ]; then
  copy_one "$stage/$SOURCE"
  exit 0
fi
IFS=
set -- "$stage"/$SOURCE
if [ ! -e "$1" ] && [ ! -L "$1" ]; then
  echo "no uploaded file matches $SOURCE" >&2
  exit 1
fi
if [ $# -gt 1 ]; then many=yes; fi
for one in "$@"; do copy_one "$one"; done)sh";

// "./a/b" -> "a/b", "." -> "".
std::string source_of(std::string text) {
  while (text.starts_with("./")) text.erase(0, 2);
  while (text.starts_with("/")) text.erase(0, 1);
  while (text.ends_with("/")) text.pop_back();
  return text == "." ? std::string() : text;
}

std::string below(const std::string& directory, const std::string& path) {
  if (path.starts_with("/")) return path;
  return directory + (directory.ends_with("/") ? "" : "/") + path;
}

tl::unexpected<Error> no_user(const std::string& name) {
  return fail(Code::kInvalid, "unauthenticated: invalid username: '" + name + "'");
}

}  // namespace

Task<Result<std::shared_ptr<BuildSandbox>>> BuildSandbox::create(Engine& engine, HeldTemplate image,
                                                                 BuildSandboxOptions options) {
  std::shared_ptr<BuildSandbox> made(new BuildSandbox(engine, std::move(image), std::move(options)));
  SandboxSpec spec;
  spec.image = made->image_;
  spec.limits = made->options_.limits;
  spec.network = made->options_.network;
  spec.on_network = made->options_.on_network;
  if (!engine.host().uids) made->helper_user_ = made->image_.user;  // rootless there is one user
  spec.user = made->helper_user_;
  BJ_CO_TRY(made->sandbox_, co_await Sandbox::create(engine.host(), std::move(spec)));
  SandboxFiles files(engine.host(), made->sandbox_);
  co_await make_start_directory(files, made->image_, made->helper_user_);
  co_return made;
}

std::map<std::string, std::string> BuildSandbox::variables_of(const TemplateContent& content) const {
  std::map<std::string, std::string> all = image_.environment;
  const std::string user = user_of(content);
  if (const Result<Account> account = image_.account(user)) all["HOME"] = account->home;
  all["USER"] = all["LOGNAME"] = user;
  for (const auto& [name, value] : content.environment) all[name] = value;
  return all;
}

std::string BuildSandbox::workdir_of(const TemplateContent& content) const {
  if (!content.workdir.empty()) return content.workdir;
  if (!image_.workdir.empty()) return image_.workdir;
  const Result<Account> account = image_.account(user_of(content));
  return account ? account->home : "/";
}

Task<Result<BuildSandbox::Ended>> BuildSandbox::run(ProcessSpec process, StepOutput output) {
  BJ_CO_TRY(Process started, co_await sandbox_->start(std::move(process)));
  started.input.reset();
  const asio::any_io_executor executor = engine_.host().executor;
  const auto text = std::make_shared<LineReader>(
      executor, std::move(started.output), [output](std::string_view line) { output("info", line); }, 0);
  const auto errors = std::make_shared<LineReader>(
      executor, std::move(started.error), [output](std::string_view line) { output("warn", line); }, kLastKept);
  text->start();
  errors->start();
  const Result<ExitReport> exit = co_await started.exit->get();
  (void)text->finish();
  Ended ended;
  ended.last = errors->finish();
  ended.lost = !exit;
  if (exit) ended.status = WIFSIGNALED(exit->status) ? 128 + WTERMSIG(exit->status) : WEXITSTATUS(exit->status);
  co_return ended;
}

Task<Result<void>> BuildSandbox::helper(const char* script, std::map<std::string, std::string> variables,
                                        const StepOutput& output) {
  ProcessSpec process;
  process.arguments = {"/bin/sh", "-c", script};
  process.environment = std::move(variables);
  process.directory = "/";
  process.user = helper_user_;
  BJ_CO_TRY(const Ended ended, co_await run(std::move(process), output));
  if (ended.lost) co_return fail(Code::kUnavailable, "the builder's sandbox ended early");
  if (ended.status != 0) {
    std::string why = ended.last.empty() ? fmt::format("exit status {}", ended.status) : ended.last;
    while (!why.empty() && (why.back() == '\n' || why.back() == ' ')) why.pop_back();
    co_return fail(Code::kInvalid, std::move(why));
  }
  co_return Result<void>();
}

Task<Result<void>> BuildSandbox::run_text(const std::string& text, const std::string& user,
                                          const TemplateContent& content, const StepOutput& output) {
  const auto failed = [&text](const std::string& why) {
    return fail(Code::kInvalid, "failed to run command '" + text + "': command failed: " + why);
  };
  const Result<Account> account = image_.account(user);
  if (!account) co_return failed(no_user(user).value().what);
  ProcessSpec process;
  process.arguments = {"/bin/bash", "-l", "-c", text};
  process.environment = options_.environment;
  for (const auto& [name, value] : content.environment) process.environment[name] = value;
  process.environment["HOME"] = account->home;
  process.environment["USER"] = process.environment["LOGNAME"] = user;
  process.directory = workdir_of(content);
  process.user = user;
  Result<Ended> ended = co_await run(std::move(process), output);
  if (!ended) co_return failed(ended.error().what);
  if (ended->lost) co_return fail(Code::kUnavailable, "the builder's sandbox ended early");
  if (ended->status == 0) co_return Result<void>();
  std::string why = fmt::format("exit status {}", ended->status);
  if (sandbox_->usage().memory_kills > 0)
    why += fmt::format(" (it was stopped at its {} MiB of memory)", options_.limits.memory_bytes >> 20);
  co_return failed(why);
}

Task<Result<void>> BuildSandbox::copy(const BuildStep& step, const TemplateContent& content, Fd files,
                                      const StepOutput& output) {
  const auto& given = step.arguments;
  const std::map<std::string, std::string> variables = variables_of(content);
  const auto argument = [&given](size_t i) { return i < given.size() ? given[i] : std::string(); };
  std::string owner = argument(2);
  if (owner.empty()) {
    const Result<Account> account = image_.account(user_of(content));
    if (!account) co_return no_user(user_of(content));
    owner = fmt::format("{}:{}", account->uid, account->gid);
  } else if (owner.find(':') == std::string::npos) {
    owner += ":";  // and its group
  }
  BJ_CO_CHECK(co_await sandbox_->copy_in(std::move(files), kArchive, 0600));
  const std::string target = below(workdir_of(content), expand_variables(argument(1), variables));
  const Result<void> done = co_await helper(kCopy,
                                            {{"ARCHIVE", kArchive},
                                             {"SOURCE", source_of(expand_variables(argument(0), variables))},
                                             {"TARGET", target},
                                             {"OWNER", owner},
                                             {"MODE", argument(3)}},
                                            output);
  if (!done && done.error().code == Code::kInvalid)
    co_return fail(Code::kInvalid,
                   "failed to copy '" + argument(0) + "' to '" + argument(1) + "': " + done.error().what);
  co_return done;
}

Task<Result<void>> BuildSandbox::make_workdir(const std::string& path, TemplateContent& content,
                                              const StepOutput& output) {
  const std::string target = below(workdir_of(content), expand_variables(path, variables_of(content)));
  const Result<Account> account = image_.account(user_of(content));
  if (!account) co_return no_user(user_of(content));
  BJ_CO_CHECK(co_await helper(
      kMakeWorkdir, {{"TARGET", target}, {"OWNER", fmt::format("{}:{}", account->uid, account->gid)}}, output));
  content.workdir = target;
  co_return Result<void>();
}

Task<Result<void>> BuildSandbox::use_user(const std::string& name, TemplateContent& content, const StepOutput& output) {
  if (!image_.account(name)) {
    BJ_CO_CHECK(co_await helper(kMakeUser, {{"NAME", name}}, output));
    made_account_ = true;
  }
  content.user = name;
  co_return Result<void>();
}

Task<Result<void>> BuildSandbox::perform(const BuildStep& step, TemplateContent& content, Fd files, StepOutput output) {
  const auto& given = step.arguments;
  switch (step.kind) {
    case StepKind::kRun:
      co_return co_await run_text(given[0], given.size() > 1 && !given[1].empty() ? given[1] : user_of(content),
                                  content, output);
    case StepKind::kCopy: co_return co_await copy(step, content, std::move(files), output);
    case StepKind::kWorkdir: co_return co_await make_workdir(given[0], content, output);
    case StepKind::kUser:
      co_return co_await use_user(expand_variables(given[0], variables_of(content)), content, output);
    case StepKind::kEnv: break;
  }
  const std::map<std::string, std::string> before = variables_of(content);
  for (size_t i = 0; i + 1 < given.size(); i += 2)
    content.environment[given[i]] = expand_variables(given[i + 1], before);
  co_return Result<void>();
}

Task<Result<void>> BuildSandbox::become_ready(const TemplateContent& content, std::chrono::seconds patience,
                                              StepOutput output) {
  const Clock::time_point deadline = Clock::now() + patience;
  sandbox_->expire_at(deadline);                        // a command that does not end
  const auto failed = std::make_shared<std::string>();  // why the start command did
  if (!content.start_command.empty()) {
    spawn(engine_.host().executor, [self = shared_from_this(), content, output, failed]() -> Task<void> {
      const Result<void> ended =
          co_await self->run_text(content.start_command, self->user_of(content), content, output);
      if (!ended && ended.error().code == Code::kInvalid) *failed = ended.error().what;
    });
  }
  if (content.ready_command.empty()) co_return Result<void>();
  asio::steady_timer pause(engine_.host().executor);
  const StepOutput nobody = [](std::string_view, std::string_view) {};
  for (;;) {
    const Result<void> ready = co_await run_text(content.ready_command, user_of(content), content, nobody);
    if (ready) co_return Result<void>();
    // One that ended well may have left others behind that make it ready; one that failed never will.
    if (!failed->empty()) co_return fail(Code::kInvalid, "the start command failed: " + *failed);
    if (Clock::now() >= deadline)
      co_return fail(Code::kInvalid, fmt::format("the ready command did not succeed within {} s", patience.count()));
    if (ready.error().code != Code::kInvalid) co_return tl::unexpected(ready.error());
    pause.expires_after(kBetweenChecks);
    (void)co_await expired(pause);
  }
}

}  // namespace bj
