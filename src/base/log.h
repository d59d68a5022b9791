// Structured logs on stderr: one line an event, JSON for machines, short text on a terminal.
//
//   log_info("tool_created", {{"request_id", request.id}, {"tool", tool.id}});
//
// The event is a constant name; what varies goes into fields. Never log bodies, query strings, keys or environment
// values. Control characters are escaped, long values cut. May be called from any thread. The sink is in src/server, so
// the engine and what lies below it do not log.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>

namespace bj {

enum class LogLevel { kInfo, kWarning, kError };
enum class LogStyle { kJson, kText };

// A field refers to its strings: it is meant to be made in the argument list of a log call.
struct LogField {
  using Value = std::variant<std::string_view, int64_t, double, bool>;

  LogField(std::string_view its_key, std::string_view text) : key(its_key), value(text) {}
  LogField(std::string_view its_key, const std::string& text) : key(its_key), value(std::string_view(text)) {}
  LogField(std::string_view its_key, const char* text) : key(its_key), value(std::string_view(text)) {}
  LogField(std::string_view its_key, bool truth) : key(its_key), value(truth) {}
  LogField(std::string_view its_key, double number) : key(its_key), value(number) {}
  template <std::integral Number>
  LogField(std::string_view its_key, Number number) : key(its_key), value(static_cast<int64_t>(number)) {}

  std::string_view key;
  Value value;
};
using LogFields = std::initializer_list<LogField>;

// As text if stderr is a terminal, else as JSON.
void log_event(LogLevel level, std::string_view event, LogFields fields);
inline void log_info(std::string_view event, LogFields fields) { log_event(LogLevel::kInfo, event, fields); }
inline void log_warning(std::string_view event, LogFields fields) { log_event(LogLevel::kWarning, event, fields); }
inline void log_error(std::string_view event, LogFields fields) { log_event(LogLevel::kError, event, fields); }

// The line without its newline, pure; `seconds` since 1970.
std::string format_log_line(LogStyle style, double seconds, LogLevel level, std::string_view event, LogFields fields);

}  // namespace bj
