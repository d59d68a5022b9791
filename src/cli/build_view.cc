#include "cli/build_view.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>

#include "cli/terminal.h"
#include "sys/files.h"

namespace bj {
namespace {

constexpr int kBarWidth = 20;

// "[########            ] installing: Collecting numpy", cut to the terminal's width.
std::string bar_line(double fraction, const BuildProgress& progress) {
  const int full = std::clamp(static_cast<int>(fraction * kBarWidth), 0, kBarWidth);
  std::string line = fmt::format("[{}{}] {}: {}", std::string(static_cast<size_t>(full), '#'),
                                 std::string(static_cast<size_t>(kBarWidth - full), ' '), phase_name(progress.phase),
                                 progress.message);
  const size_t columns = std::max<size_t>(window_size(STDERR_FILENO).columns, 20);
  if (line.size() >= columns) line.resize(columns - 1);
  return line;
}

}  // namespace

BuildView::BuildView(ShowBuild show) : show_(show), terminal_(::isatty(STDERR_FILENO) != 0) {}

BuildView::~BuildView() { end(); }

void BuildView::show(const BuildProgress& progress) {
  fraction_ = progress.fraction.value_or(fraction_);
  if (terminal_) {
    shown_ = true;
    (void)write_all(STDERR_FILENO, "\r\033[K" + harmless(bar_line(fraction_, progress)), "progress");
  } else if (show_ == ShowBuild::kAlways) {
    print_untrusted(STDERR_FILENO, fmt::format("{}: {}\n", phase_name(progress.phase), progress.message));
  }
}

void BuildView::end() {
  if (shown_) (void)write_all(STDERR_FILENO, "\r\033[K", "progress");
  shown_ = false;
}

void add_requirement_flags(CLI::App& command, std::vector<std::string>& pip, std::vector<std::string>& npm) {
  command.add_option("--pip", pip, "a package that a Python tool needs: NAME, NAME==1.2, NAME[extra]>=1; repeatable")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command.add_option("--npm", npm, "a package that a TypeScript tool needs: NAME, NAME@1.2; repeatable")
      ->type_name("NAME")
      ->allow_extra_args(false);
}

Task<Result<Environment>> ensure_shown(Engine& engine, EnvironmentRequest request, Force force, ShowBuild show) {
  BuildView view(show);
  const Progress progress = [&view](const BuildProgress& news) { view.show(news); };
  co_return co_await engine.environments().ensure(std::move(request), progress, force);
}

Error install_error(Language language, const std::vector<std::string>& requirements, const Error& error) {
  if (error.code != Code::kUnavailable) return error;
  return {error.code, install_failure(language, {}, requirements, error), 0};
}

}  // namespace bj
