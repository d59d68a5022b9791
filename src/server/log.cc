#include "base/log.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <ctime>

#include "base/utf8.h"

namespace bj {
namespace {

constexpr size_t kLongestValue = 1000;

const char* name_of(LogLevel level) {
  switch (level) {
    case LogLevel::kInfo: return "info";
    case LogLevel::kWarning: return "warning";
    case LogLevel::kError: return "error";
  }
  return "";
}

// As the inside of a JSON string, which is harmless on a terminal too: controls (C1 too) are escaped, other bytes that
// are no UTF-8 replaced.
void append_escaped(std::string& line, std::string_view text) {
  const bool cut = text.size() > kLongestValue;
  text = text.substr(0, kLongestValue);
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text[0]);
    const size_t size = utf8_prefix(text);
    if (size == 0) {
      line += "\\ufffd";
    } else if (first < 0x20 || first == 0x7f) {
      line += fmt::format("\\u{:04x}", first);
    } else if (size == 2 && first == 0xc2 && static_cast<unsigned char>(text[1]) < 0xa0) {
      line += fmt::format("\\u{:04x}", static_cast<unsigned char>(text[1]));
    } else {
      if (first == '"' || first == '\\') line += '\\';
      line += text.substr(0, size);
    }
    text.remove_prefix(size == 0 ? 1 : size);
  }
  if (cut) line += "...";
}

void append_value(std::string& line, const LogField::Value& value) {
  if (const auto* text = std::get_if<std::string_view>(&value)) {
    line += '"';
    append_escaped(line, *text);
    line += '"';
  } else if (const auto* number = std::get_if<int64_t>(&value)) {
    line += std::to_string(*number);
  } else if (const auto* real = std::get_if<double>(&value)) {
    line += std::isfinite(*real) ? fmt::format("{:.6g}", *real) : "null";
  } else {
    line += std::get<bool>(value) ? "true" : "false";
  }
}

std::string time_text(LogStyle style, double seconds) {
  const auto whole = static_cast<std::time_t>(std::floor(seconds));
  const int milliseconds = static_cast<int>((seconds - std::floor(seconds)) * 1000);
  if (style == LogStyle::kText) return fmt::format("{:%H:%M:%S}", fmt::localtime(whole));
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(whole), milliseconds);
}

LogStyle current_style() {
  static const LogStyle style = ::isatty(STDERR_FILENO) == 1 ? LogStyle::kText : LogStyle::kJson;
  return style;
}

// Lines of several threads don't mix, and a full pipe's writer waits: a log is not lost.
spdlog::logger& sink() {
  static spdlog::logger logger = [] {
    spdlog::logger made("belljar", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made.set_pattern("%v");
    made.flush_on(spdlog::level::info);
    return made;
  }();
  return logger;
}

}  // namespace

std::string format_log_line(LogStyle style, double seconds, LogLevel level, std::string_view event, LogFields fields) {
  std::string line;
  if (style == LogStyle::kJson) {
    line = fmt::format(R"({{"time":"{}","level":"{}","event":")", time_text(style, seconds), name_of(level));
    append_escaped(line, event);
    line += '"';
  } else {
    line = time_text(style, seconds) + (level == LogLevel::kInfo ? " " : fmt::format(" {}: ", name_of(level)));
    append_escaped(line, event);
  }
  for (const LogField& field : fields) {
    line += style == LogStyle::kJson ? ",\"" : " ";
    append_escaped(line, field.key);
    line += style == LogStyle::kJson ? "\":" : "=";
    append_value(line, field.value);
  }
  if (style == LogStyle::kJson) line += '}';
  return line;
}

void log_event(LogLevel level, std::string_view event, LogFields fields) {
  const double now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  sink().log(spdlog::level::info, spdlog::string_view_t(format_log_line(current_style(), now, level, event, fields)));
}

}  // namespace bj
