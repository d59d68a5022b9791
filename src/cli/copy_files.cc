#include "cli/copy_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
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

Result<int> copy_in(ServerClient& server, const std::string& from, InSandbox to) {
  Fd opened;
  if (from != "-") {
    BJ_TRY(opened, open_path(from, O_RDONLY));
  }
  if (to.path.empty() || to.path.ends_with("/")) to.path += name_of(from);
  ProgressLine line(name_of(from));
  BJ_CHECK(server.upload(content_path(to), opened.ok() ? opened.get() : STDIN_FILENO, line.reporter()));
  return kExitOk;
}

Result<int> copy_out(ServerClient& server, const InSandbox& from, std::string to) {
  Fd opened;
  if (to.ends_with("/") || to == ".") to += (to == "." ? "/" : "") + name_of(from.path);
  if (to != "-") {
    BJ_TRY(opened, open_path(to, O_WRONLY | O_CREAT | O_TRUNC, 0644));
  }
  ProgressLine line(name_of(from.path));
  BJ_CHECK(server.download(content_path(from), opened.ok() ? opened.get() : STDOUT_FILENO, line.reporter()));
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
