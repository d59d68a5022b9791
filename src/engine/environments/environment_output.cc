#include "engine/environments/environment_output.h"

#include <fmt/format.h>

#include <deque>
#include <sstream>
#include <vector>

#include "engine/import/import_entry.h"
#include "engine/sandbox.h"

namespace bj {
namespace {

constexpr size_t kLongestPiece = 64 * 1024;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    lines.push_back(line);
  }
  return lines;
}

// npm marks what is an error; the rest is chatter. Nothing: not for people.
std::string npm_error(std::string line) {
  for (const std::string_view mark : {"npm ERR! ", "npm error "}) {
    if (!line.starts_with(mark)) continue;
    line.erase(0, mark.size());
    const bool log_file = line.starts_with("A complete log") || line.find("_logs") != std::string::npos;
    return log_file ? std::string() : line;
  }
  return {};
}

}  // namespace

void LineReader::start() {
  boost::system::error_code ignored;
  stream_.native_non_blocking(true, ignored);
  spawn(stream_.get_executor(), [self = shared_from_this()]() -> Task<void> {
    while (co_await readable(self->stream_)) {
      if (!self->take()) break;
    }
  });
}

std::string LineReader::finish() {
  take();
  tell_rest();
  on_line_ = nullptr;
  boost::system::error_code ignored;
  stream_.cancel(ignored);
  return std::move(kept_);
}

bool LineReader::take() {
  Captured fresh;
  const bool more = capture_available(stream_.native_handle(), 1u << 20, fresh);
  kept_ += fresh.text;
  if (kept_.size() > most_) kept_.erase(0, kept_.size() - most_);
  line_ += fresh.text;
  size_t begin = 0;
  for (size_t end = line_.find('\n'); end != std::string::npos; end = line_.find('\n', begin)) {
    if (on_line_) on_line_(std::string_view(line_).substr(begin, end - begin));
    begin = end + 1;
  }
  line_.erase(0, begin);  // once: a megabyte may be a million lines
  if (line_.size() > kLongestPiece) tell_rest();
  return more;
}

void LineReader::tell_rest() {
  if (on_line_ && !line_.empty()) on_line_(line_);
  line_.clear();
}

std::string relevant_lines(Language language, const std::string& errors) {
  constexpr size_t kMostLines = 20, kMostBytes = 4096, kLongestLine = 500;
  std::deque<std::string> kept;
  size_t bytes = 0;
  const std::vector<std::string> lines = lines_of(errors);
  for (auto line = lines.rbegin(); line != lines.rend() && kept.size() < kMostLines; ++line) {
    const std::string text = printable(language == Language::kTypeScript ? npm_error(*line) : *line, kLongestLine);
    if (text.empty() || text.starts_with("WARNING: ") || text.starts_with("[notice]")) continue;
    if (bytes += text.size(); bytes > kMostBytes) break;
    kept.push_front(text);
  }
  return fmt::format("{}", fmt::join(kept, "\n"));
}

}  // namespace bj
