// What executing code in a context is: what is wanted, what comes of it piece by piece, how it ends.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/async.h"

namespace bj {

enum class ContextLanguage : uint8_t { kPython, kJavaScript, kTypeScript, kBash };
const char* name_of(ContextLanguage language);
// Also by the short names: js, ts, sh. kInvalid says which there are.
Result<ContextLanguage> context_language_of(std::string_view name);

struct Execution {
  std::string code;
  std::map<std::string, std::string> environment;  // for this execution only
  uint64_t timeout_ms = 0;                         // then it is interrupted, and ended if that does not help; 0: never
};

struct ExecutionError {
  std::string name, value, traceback;
};

// kSilence: nothing happened for a second; a listener may look whether anybody is there.
enum class ExecutionEventKind : uint8_t { kCount, kOutput, kErrorOutput, kResult, kError, kSilence };

// One piece, in the order it happened.
struct ExecutionEvent {
  ExecutionEventKind kind = ExecutionEventKind::kOutput;
  std::string text;          // kOutput, kErrorOutput: bytes as they came
  int64_t count = 0;         // kCount: which execution of its context this is
  bool main = false;         // kResult: the value of the last expression
  boost::json::object data;  // kResult: representations by MIME type
  ExecutionError error;      // kError
};

// Takes an event in its own time: nothing more is read meanwhile. False: nobody listens any more, the code is to end.
using ExecutionListener = std::function<Task<bool>(ExecutionEvent)>;

struct ExecutionEnd {
  int64_t count = 0;
  std::optional<ExecutionError> error;
  bool restarted = false;  // its context had ended before: this ran in a new one, without the old state
  bool timed_out = false;
  bool sandbox_ended = false;  // and its context with it
  bool died = false;           // its context ended under it; the error says what is known
  double duration_ms = 0;
};

}  // namespace bj
