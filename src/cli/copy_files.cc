#include "cli/copy_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <optional>

#include "base/compact_id.h"
#include "cli/context.h"
#include "cli/sizes.h"
#include "sys/files.h"

namespace bj {
namespace {

struct InSandbox {
  std::string id, path;
};

std::optional<InSandbox> in_sandbox(const std::string& text) {
  const size_t colon = text.find(':');
  if (colon == std::string::npos || !is_compact_id("sb", text.substr(0, colon))) return std::nullopt;
  return InSandbox{text.substr(0, colon), text.substr(colon + 1)};
}

std::string name_of(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

// A line on stderr that is written over, if that is a terminal.
class ProgressLine {
 public:
  explicit ProgressLine(std::string name) : name_(std::move(name)), shown_(::isatty(STDERR_FILENO) != 0) {}
  ~ProgressLine() {
    if (drawn_) (void)!::write(STDERR_FILENO, "\n", 1);
  }
  ProgressLine(const ProgressLine&) = delete;

  Progress reporter() {
    if (!shown_) return {};
    return [this](uint64_t done, uint64_t all) { draw(done, all); };
  }

 private:
  void draw(uint64_t done, uint64_t all) {
    const auto now = std::chrono::steady_clock::now();
    const bool last = all != 0 && done == all;
    if (done == 0 || (!last && now - last_ < std::chrono::milliseconds(200))) return;
    last_ = now;
    drawn_ = true;
    const std::string of = all == 0 ? "" : fmt::format(" of {} ({}%)", format_size(all), done * 100 / all);
    const std::string line = fmt::format("\r\x1b[K{}: {}{}", name_, format_size(done), of);
    (void)!::write(STDERR_FILENO, line.data(), line.size());
  }

  std::string name_;
  bool shown_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point last_;
};

std::string content_path(const InSandbox& place) {
  return "/v1/sandboxes/" + place.id + "/files?path=" + ServerClient::escaped(place.path);
}

std::optional<mode_t> mode_of(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 ? std::optional(info.st_mode) : std::nullopt;
}

Result<int> copy_in(ServerClient& server, const std::string& from, InSandbox to) {
  Fd opened;
  if (from != "-") {
    if (S_ISDIR(mode_of(from).value_or(0)))
      return fail(Code::kInvalid, "\"" + from + "\" is a directory: a copy is of one file, such as an archive of it");
    BJ_TRY(opened, open_path(from, O_RDONLY));
  }
  if (to.path.empty() || to.path.ends_with("/")) to.path += name_of(from);
  ProgressLine line(name_of(from));
  BJ_CHECK(server.upload(content_path(to), opened.ok() ? opened.get() : STDIN_FILENO, line.reporter()));
  return kExitOk;
}

// Beside its target until it is whole: a copy that fails leaves what was there.
Result<void> copy_to_file(ServerClient& server, const InSandbox& from, const std::string& target, mode_t mode,
                          const Progress& progress) {
  const std::string partial = target + ".partial";
  BJ_TRY(const Fd file, open_path(partial, O_WRONLY | O_CREAT | O_TRUNC, mode));
  Result<void> done = server.download(content_path(from), file.get(), progress);
  if (done && ::rename(partial.c_str(), target.c_str()) != 0) done = fail_errno("rename(" + partial + ")");
  if (!done) ::unlink(partial.c_str());
  return done;
}

Result<int> copy_out(ServerClient& server, const InSandbox& from, std::string to) {
  if (to.ends_with("/") || S_ISDIR(mode_of(to).value_or(0))) to += (to.ends_with("/") ? "" : "/") + name_of(from.path);
  ProgressLine line(name_of(from.path));
  if (to == "-") {
    BJ_CHECK(server.download(content_path(from), STDOUT_FILENO, line.reporter()));
    return kExitOk;
  }
  const std::optional<mode_t> there = mode_of(to);
  if (there && !S_ISREG(*there)) {  // a device, a pipe
    BJ_TRY(const Fd file, open_path(to, O_WRONLY));
    BJ_CHECK(server.download(content_path(from), file.get(), line.reporter()));
    return kExitOk;
  }
  std::error_code unknown;
  const std::string target = there ? std::filesystem::canonical(to, unknown).string() : to;  // a link stays one
  BJ_CHECK(copy_to_file(server, from, unknown ? to : target, there.value_or(0644) & 0777, line.reporter()));
  return kExitOk;
}

}  // namespace

Result<int> copy_files(ServerClient& server, const std::string& from, const std::string& to) {
  const std::optional<InSandbox> source = in_sandbox(from), target = in_sandbox(to);
  if (source.has_value() == target.has_value())
    return fail(Code::kInvalid, "one side of a copy is ID:PATH in a sandbox, the other a file here");
  if (source) return copy_out(server, *source, to);
  return copy_in(server, from, *target);
}

}  // namespace bj
