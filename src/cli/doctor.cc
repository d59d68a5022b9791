// belljar doctor: what this machine offers sandboxes, what it lacks, and how to get it. Found out by trying.
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <array>
#include <boost/json/array.hpp>
#include <sstream>

#include "cli/context.h"
#include "cli/environment.h"
#include "cli/exec_session.h"
#include "cli/flags.h"
#include "cli/json_output.h"
#include "cli/say.h"
#include "cli/sizes.h"
#include "cli/terminal.h"
#include "cli/with_engine.h"
#include "seal/abilities.h"
#include "sys/files.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr const char* kFooter = R"(Exit status: 0 if sandboxes can be made, 1 if not.

Examples:
  belljar doctor
  belljar doctor --json)";

constexpr uint64_t kEnoughMemory = 512ull << 20;
constexpr uint64_t kEnoughDisk = 1ull << 30;
constexpr uint64_t kTryTimeMs = 30'000;

enum class Finding { kOk, kMissing };

struct Line {
  std::string group, name;
  Finding finding;
  std::string detail;  // how it is, or what is wrong and what to do
};

struct Report {
  std::vector<Line> lines;
  bool sandboxes = false;
  std::string lacks;  // of the seal; of what a call has and what a sandbox has

  void add(const char* group, std::string name, bool ok, std::string detail) {
    lines.push_back({group, std::move(name), ok ? Finding::kOk : Finding::kMissing, std::move(detail)});
  }
};

void look_at_kernel(const Abilities& abilities, Report& report) {
  utsname name{};
  ::uname(&name);
  report.add("kernel", "version", true, fmt::format("{} {}", name.sysname, name.release));
  report.add(
      "kernel", "user", abilities.root,
      abilities.root
          ? "root: every sandbox gets user ids of its own"
          : "rootless: sandboxes share your user id outside; run as root (sudo belljar ...) for ids of their own");
  const auto add = [&report](const char* what, const Ability& ability) {
    report.add("kernel", what, ability.available, ability.detail);
  };
  add("user namespaces", abilities.user_namespaces);
  add("idmapped mounts", abilities.idmapped_mounts);
  add("overlayfs", abilities.overlay);
  add("replaced folders", abilities.replaced_directories);
  add("proc subset", abilities.proc_subset);
  add("seccomp", abilities.seccomp);
  add("Landlock", abilities.landlock);
}

// What to do about a controller that can't be had.
std::string cgroup_remedy(const CgroupRoot& root, bool privileged) {
  if (privileged) {
    return "mount it writable (a container: --privileged --cgroupns=private), or boot with it enabled (cgroup_enable=NAME)";
  }
  if (!root.version2()) return "run as root: version 1 hierarchies can't be given to users safely";
  return "run as root, or start belljar itself with systemd-run --user --scope -p Delegate=yes belljar ...; what the user's "
         "manager has not got, root gives it: systemctl edit user@.service, [Service] Delegate=cpu io memory pids";
}

void look_at_cgroups(const CgroupRoot& root, bool privileged, Report& report) {
  for (size_t i = 0; i < static_cast<size_t>(Controller::kCount); ++i) {
    const auto controller = static_cast<Controller>(i);
    const CgroupRoot::Hierarchy* const found = root.find(controller);
    std::string detail;
    if (found != nullptr) {
      detail = fmt::format("{}, {}", root.version2() ? "v2" : "v1", found->path);
    } else {
      const std::string why = root.why_not(controller);
      detail = (why.empty() ? "not found" : why) + "; " + cgroup_remedy(root, privileged);
    }
    report.add("cgroups", std::string(kControllerNames[i]), found != nullptr, detail);
  }
}

uint64_t memory_available() {
  std::istringstream lines(read_file("/proc/meminfo").value_or(""));
  for (std::string key, unit; lines >> key;) {
    uint64_t value = 0;
    lines >> value;
    std::getline(lines, unit);
    if (key == "MemAvailable:") return value << 10;
  }
  return 0;
}

void look_at_room(const std::string& data_directory, Report& report) {
  const uint64_t memory = memory_available();
  report.add("room", "memory", memory >= kEnoughMemory,
             memory >= kEnoughMemory ? format_size(memory) + " available"
                                     : fmt::format("{} available; {} are needed for a few sandboxes",
                                                   format_size(memory), format_size(kEnoughMemory)));
  struct statvfs disk{};
  if (::statvfs(data_directory.c_str(), &disk) != 0) return;
  const uint64_t free = disk.f_bavail * disk.f_frsize;
  report.add("room", "disk", free >= kEnoughDisk,
             free >= kEnoughDisk ? fmt::format("{} free in {}", format_size(free), data_directory)
                                 : fmt::format("{} free in {}; make room, or name another place with --data",
                                               format_size(free), data_directory));
}

// `base` shows the host's programs: what agents expect of a machine, and the package that has it.
void look_at_base(Report& report) {
  struct Program {
    const char* name;
    const char* path;
    const char* package;
  };
  static constexpr std::array<Program, 9> kPrograms = {{{"python3", "/usr/bin/python3", "python3"},
                                                        {"git", "/usr/bin/git", "git"},
                                                        {"git daemon", "/usr/lib/git-core/git-daemon", "git"},
                                                        {"curl", "/usr/bin/curl", "curl"},
                                                        {"ncurses", "/usr/bin/tput", "ncurses-bin"},
                                                        {"xattr tools", "/usr/bin/setfattr", "attr"},
                                                        {"procps", "/usr/bin/ps", "procps"},
                                                        {"ss", "/usr/bin/ss", "iproute2"},
                                                        {"mke2fs (volumes)", "/usr/sbin/mke2fs", "e2fsprogs"}}};
  for (const Program& one : kPrograms) {
    const bool there = ::access(one.path, X_OK) == 0;
    report.add("template base", one.name, there, there ? one.path : std::string("install the package ") + one.package);
  }
}

double since_ms(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

void add_missing(const Seal& seal, Report& report) {
  const std::string missing = seal.missing();
  if (missing.empty() || report.lacks.find(missing) != std::string::npos) return;
  report.lacks = missing.find(report.lacks) != std::string::npos ? missing : report.lacks + "; calls: " + missing;
}

Task<void> try_sandbox(Engine& engine, const Template& image, const Limits& limits, Report& report) {
  const auto start = Clock::now();
  SandboxSpec spec;
  spec.image = image;
  spec.limits = limits;
  const auto sandbox = co_await engine.create_sandbox(std::move(spec));
  if (!sandbox) {
    report.add("sandbox", "create", false, sandbox.error().what);
    co_return;
  }
  (*sandbox)->expire_at(Clock::now() + std::chrono::milliseconds(kTryTimeMs));
  ProcessSpec command;
  command.arguments = {"true"};
  const auto process = co_await (*sandbox)->start(std::move(command));
  const Result<ExitReport> exit =
      process ? co_await process->exit->get() : Result<ExitReport>(tl::unexpected(process.error()));
  report.sandboxes = exit && exit->status == 0;
  report.add("sandbox", "create", report.sandboxes,
             report.sandboxes
                 ? fmt::format("made, ran `true` and is gone, {:.1f} ms", since_ms(start))
                 : "`true` did not run: " +
                       (exit ? "exit status " + std::to_string(shell_status(exit->status)) : exit.error().what));
  add_missing((*sandbox)->seal(), report);
  co_await (*sandbox)->destroy();
}

Task<void> try_call(Engine& engine, CallSpec call, const char* name, Report& report) {
  const auto start = Clock::now();
  const auto result = co_await engine.call(std::move(call));
  const bool good = result && result->status == CallStatus::kOk && result->value.is_string();
  std::string detail;
  if (good) {
    detail = fmt::format("{}, first call {:.0f} ms", std::string_view(result->value.get_string()), since_ms(start));
  } else {
    detail = result ? result->error.name + ": " + result->error.message : result.error().what;
  }
  report.add("sandbox", name, good, detail);
  if (good) add_missing(result->seal, report);
}

Task<int> try_everything(Engine& engine, Settings settings, Report& report) {
  look_at_cgroups(engine.host().cgroups->root(), engine.host().abilities.root, report);
  const Result<Template> image = engine.templates().find(settings.template_name);
  report.add("sandbox", "template " + settings.template_name, image.has_value(),
             image ? image->layers.front().path : image.error().what);
  if (!image) co_return kExitFailed;
  settings.limits.wall_ms = kTryTimeMs;
  co_await try_sandbox(engine, *image, settings.limits, report);
  CallSpec call;
  call.environment.image = *image;
  call.environment.interpreter = interpreter_for(settings, "");
  call.limits = settings.limits;
  call.filename = "doctor.py";
  call.source = "import sys\ndef version():\n    return sys.executable + ' ' + sys.version.split()[0]\n";
  co_await try_call(engine, call, "Python", report);
  call.language = Language::kTypeScript;
  call.filename = "doctor.ts";
  call.source = "export function version(): string { return process.execPath + ' ' + process.version; }\n";
  co_await try_call(engine, call, "TypeScript", report);
  co_return kExitOk;
}

std::string verdict(const Report& report) {
  if (!report.sandboxes) return "no sandbox can be made here: see what is missing above";
  return report.lacks.empty() ? "full seal available" : "seal will lack: " + report.lacks;
}

void print_human(const Report& report) {
  std::string out, group;
  for (const Line& line : report.lines) {
    if (line.group != group) out += (group.empty() ? "" : "\n") + line.group + "\n";
    group = line.group;
    out += fmt::format("  {:<8} {:<18} {}\n", line.finding == Finding::kOk ? "ok" : "missing", line.name, line.detail);
  }
  print_untrusted(STDOUT_FILENO, out + "\n" + verdict(report) + "\n");
}

void print_report_json(const Report& report) {
  json::array checks;
  for (const Line& line : report.lines) {
    checks.push_back(json::object{
        {"group", line.group}, {"name", line.name}, {"ok", line.finding == Finding::kOk}, {"detail", line.detail}});
  }
  print_json(json::object{{"sandboxes", report.sandboxes},
                          {"full_seal", report.sandboxes && report.lacks.empty()},
                          {"verdict", verdict(report)},
                          {"checks", std::move(checks)}});
}

int doctor(const Settings& settings) {
  Report report;
  look_at_kernel(probe_abilities(), report);
  const int tried = with_engine(settings, one_shot_options(settings),
                                [&](Engine& engine) { return try_everything(engine, settings, report); });
  if (tried > 128) return tried;  // interrupted
  look_at_base(report);
  look_at_room(settings.data_directory, report);
  if (settings.json) {
    print_report_json(report);
  } else {
    print_human(report);
  }
  return report.sandboxes ? kExitOk : kExitFailed;
}

}  // namespace

void add_doctor(CLI::App& app, Context& context) {
  CLI::App* const command =
      add_subcommand(app, "doctor", "What this machine offers sandboxes, what is missing and how to get it");
  command->footer(kFooter);
  add_json_flag(*command, context, "print {sandboxes, full_seal, verdict, checks}");
  add_sandbox_flags(*command, context);
  command->callback([&context] { context.status = doctor(context.settings); });
}

}  // namespace bj
