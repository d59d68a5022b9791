#include "engine/import/template_import.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <exception>
#include <optional>
#include <utility>
#include <variant>

#include "engine/import/import_worker.h"
#include "engine/templates/template.h"
#include "sys/bytes.h"
#include "sys/clone.h"
#include "sys/file_lock.h"
#include "sys/files.h"
#include "sys/names.h"
#include "sys/pipe.h"
#include "sys/wait.h"

namespace bj {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kPrefix = ".import-";
constexpr auto kBetweenProgress = std::chrono::milliseconds(100);

// The directory in which a template is built. Removed with what is in it, unless it became the template.
class BuildDirectory {
 public:
  static Result<BuildDirectory> create(const std::string& templates_directory);
  BuildDirectory(BuildDirectory&&) = default;
  BuildDirectory& operator=(BuildDirectory&&) = delete;
  ~BuildDirectory() {
    if (directory_.ok()) (void)remove_tree(store_.get(), name_);
  }

  int store() const { return store_.get(); }
  int directory() const { return directory_.get(); }
  int rootfs() const { return rootfs_.get(); }
  int scratch() const { return scratch_.get(); }

  Result<void> become(const std::string& template_name, const std::string& json);

 private:
  BuildDirectory() = default;
  Result<void> make(const std::string& templates_directory);

  std::string name_;
  Fd store_, directory_, rootfs_, scratch_;  // the lock is on directory_
};

tl::unexpected<Error> already_there(const std::string& name) {
  return fail(
      Code::kInvalid,
      fmt::format("there is a template \"{}\" already: remove it first with `belljar template rm {}`", name, name));
}

// A build directory that nobody holds locked is left from an import that was killed.
void remove_stale(int store) {
  const auto entries = list_directory(store);
  if (!entries) return;
  for (const Entry& entry : *entries) {
    if (!entry.name.starts_with(kPrefix)) continue;
    const Result<Fd> directory = open_at(store, entry.name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (directory && try_lock_file(directory->get(), Lock::kAlone, entry.name).value_or(false))
      (void)remove_tree(store, entry.name);
  }
}

Result<BuildDirectory> BuildDirectory::create(const std::string& templates_directory) {
  BuildDirectory build;
  BJ_CHECK(build.make(templates_directory));
  return build;
}

Result<void> BuildDirectory::make(const std::string& templates_directory) {
  BJ_CHECK(make_directories(templates_directory, 0755));
  BJ_TRY(store_, open_path(templates_directory, O_RDONLY | O_DIRECTORY));
  // While the store is locked no other import takes a directory that is not locked yet for a stale one.
  BJ_TRY(const Fd lock, open_at(store_.get(), ".", O_RDONLY | O_DIRECTORY));
  BJ_CHECK(lock_file(lock.get(), Lock::kAlone, templates_directory));
  remove_stale(store_.get());
  std::string path = templates_directory + "/" + kPrefix + "XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) return fail_errno("mkdtemp(" + path + ")");
  name_ = path.substr(templates_directory.size() + 1);
  BJ_TRY(directory_, open_at(store_.get(), name_, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  BJ_CHECK(lock_file(directory_.get(), Lock::kAlone, path));
  BJ_TRY(rootfs_, new_directory(directory_.get(), "rootfs", 0755));
  BJ_TRY(scratch_, new_directory(directory_.get(), "scratch", 0700));
  return {};
}

Result<void> BuildDirectory::become(const std::string& template_name, const std::string& json) {
  BJ_CHECK(remove_tree(directory_.get(), "scratch"));
  struct stat info{};
  if (::fstatat(directory_.get(), "rootfs", &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(info.st_mode)) {
    return fail(Code::kInternal, "the import's child replaced its root directory: nothing was imported");
  }
  BJ_TRY(const Fd file, open_at(directory_.get(), "template.json", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644));
  BJ_CHECK(write_all(file.get(), json, "template.json"));
  if (::fchmod(directory_.get(), 0755) != 0) return fail_errno("fchmod(" + name_ + ")");
  if (::syncfs(directory_.get()) != 0)
    return fail_errno("syncfs");  // or a power cut could leave a whole name on half a tree
  Result<void> renamed = rename_at(store_.get(), name_, template_name, RENAME_NOREPLACE);
  if (!renamed) return renamed.error().sys == EEXIST ? already_there(template_name) : renamed;
  directory_.reset();  // it is no longer ours to remove
  return {};
}

struct Source {
  Fd fd;
  bool directory = false;
  std::string name;  // its last component
};

Result<Source> open_source(const std::string& path) {
  const std::string shown = printable(path);
  Result<Fd> fd = open_path(path, O_RDONLY | O_NONBLOCK);
  if (!fd && fd.error().code == Code::kNotFound)
    return fail(Code::kNotFound, "there is no file or directory " + shown + " to import");
  if (!fd) return fail(fd.error().code, "can't read " + shown + ": " + std::strerror(fd.error().sys), fd.error().sys);
  struct stat info{};
  if (::fstat(fd->get(), &info) != 0) return fail_errno("fstat(" + shown + ")");
  if (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) {
    return fail(Code::kInvalid, shown + " is neither a file nor a directory: save the image to a file first");
  }
  const std::string trimmed = path.substr(0, path.find_last_not_of('/') + 1);
  const std::string name = trimmed.substr(trimmed.rfind('/') + 1);  // npos + 1 == 0
  return Source{std::move(*fd), S_ISDIR(info.st_mode), name.empty() ? "/" : name};
}

Result<ImportReport> confined_import(const ImportWork& work) {
  BJ_TRY(const int abi, confine(work.cell));
  BJ_TRY(ImportReport report, unpack_source(work));
  report.landlock_abi = abi;
  if (abi == 0)
    report.notes.push_back("the kernel has no Landlock of ABI 2 or newer: the import was confined without it");
  return report;
}

// The child's whole life. Nothing of the parent's is destroyed here.
[[noreturn]] void run_child(ImportWork& work, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (::getppid() != parent) ::_exit(1);
  ::signal(SIGPIPE, SIG_DFL);
  const int messages = work.cell.messages;
  Clock::time_point told = Clock::now();
  work.progress = [&](const ImportProgress& progress) {
    if (Clock::now() - told < kBetweenProgress) return;
    told = Clock::now();
    (void)write_all(messages, encode(progress), "messages");
  };
  Result<ImportReport> result = fail(Code::kExhausted, "");
  try {
    result = confined_import(work);
  } catch (const std::exception& error) {
    result = fail(Code::kExhausted,
                  work.label + " needs more memory than an import may use (" + error.what() + "): use a smaller image");
  }
  const std::string last = result ? encode(*result) : encode(result.error());
  ::_exit(write_all(messages, last, "messages") ? 0 : 1);
}

// One line off the front of `pending`, if it is whole.
std::optional<std::string> take_line(std::string& pending) {
  const size_t end = pending.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string line = pending.substr(0, end);
  pending.erase(0, end + 1);
  return line;
}

// Reads the child's messages up to its last one. Nothing if it ended without.
Result<std::optional<ImportReport>> listen(const Fd& messages, const ImportLimits& limits,
                                           const std::function<void(const ImportProgress&)>& progress) {
  const auto deadline = Clock::now() + std::chrono::seconds(limits.timeout_seconds);
  std::string pending;
  for (;;) {
    while (const auto line = take_line(pending)) {
      BJ_TRY(ImportMessage message, decode(*line));
      if (const auto* error = std::get_if<Error>(&message)) return tl::unexpected(*error);
      if (auto* report = std::get_if<ImportReport>(&message)) return std::move(*report);
      if (progress) progress(std::get<ImportProgress>(message));
    }
    if (pending.size() > kLongestMessage)
      return fail(Code::kInternal, "the import's child sent a message without an end");
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) {
      return fail(
          Code::kExhausted,
          fmt::format("the import took longer than {} s and was stopped: use a smaller image, or raise the limit",
                      limits.timeout_seconds));
    }
    pollfd waiting{messages.get(), POLLIN, 0};
    if (::poll(&waiting, 1, static_cast<int>(std::min<int64_t>(left, 1000))) <= 0) continue;
    char buffer[65536];
    const Moved read = read_some(messages.get(), buffer, sizeof buffer);
    if (!read.ok()) return fail_with(read.sys, "read(import's child)");
    if (read.ended()) return std::optional<ImportReport>();
    pending.append(buffer, read.size);
  }
}

Result<ImportReport> run_confined(ImportWork work, const std::function<void(const ImportProgress&)>& progress) {
  BJ_TRY(Pipe pipe, make_pipe());
  work.cell.messages = pipe.write.get();
  const pid_t parent = ::getpid();
  const Cloned child = clone_process(0);
  if (child.pid < 0) return fail_with(-child.pid, "clone3(import)");
  if (child.pid == 0) run_child(work, parent);
  const Fd pidfd(child.pidfd);
  pipe.write.reset();
  Result<std::optional<ImportReport>> heard = listen(pipe.read, work.cell.limits, progress);
  ::kill(child.pid, SIGKILL);  // after its last message it has nothing left to do; not reaped, so the number is its own
  const siginfo_t end = wait_for_child(child.pid).value_or(siginfo_t{});
  if (!heard) return tl::unexpected(heard.error());
  if (*heard) return std::move(**heard);
  return fail(
      Code::kExhausted,
      fmt::format("the import of {} was stopped by {} {}: it used too much time or memory, or hit a defect; use a "
                  "smaller image",
                  work.label, end.si_code == CLD_EXITED ? "status" : "signal", end.si_status));
}

Result<void> check_name(const std::string& templates_directory, const std::string& name) {
  if (!valid_template_name(name)) {
    return fail(Code::kInvalid, "\"" + printable(name, 80) +
                                    "\" can't be a template's name: use a-z, 0-9, '.', '-' and '_', at most 64, "
                                    "beginning with a letter or digit");
  }
  if (name == "base") return fail(Code::kInvalid, "\"base\" is Belljar's own template: choose another name");
  struct stat info{};
  if (::lstat((templates_directory + "/" + name).c_str(), &info) == 0) return already_there(name);
  return {};
}

}  // namespace

Result<ImportReport> import_template(const std::string& templates_directory, const std::string& name,
                                     const std::string& source, const ImportLimits& limits,
                                     const std::function<void(const ImportProgress&)>& progress) {
  BJ_CHECK(check_name(templates_directory, name));
  BJ_TRY(const Source from, open_source(source));
  BJ_TRY(BuildDirectory build, BuildDirectory::create(templates_directory));
  struct stat store{};
  if (::fstat(build.store(), &store) != 0) return fail_errno("fstat(" + templates_directory + ")");
  ImportWork work;
  work.cell = {.directory = build.directory(),
               .rootfs = build.rootfs(),
               .scratch = build.scratch(),
               .source = from.fd.get(),
               .source_is_directory = from.directory,
               .messages = -1,
               .limits = limits};
  work.label = printable(from.name);
  work.excluded = {store.st_dev, store.st_ino};
  BJ_TRY(ImportReport report, run_confined(std::move(work), progress));
  BJ_CHECK(build.become(name, template_json(name, from.name, report)));
  return report;
}

}  // namespace bj
