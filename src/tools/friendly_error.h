// What a caller is told of a tool's failure, in Letta's words.
#pragma once

#include <string>
#include <string_view>

namespace bj {

// An exception by its class's name and its message. Both may be empty: nothing was found out.
struct PythonError {
  std::string name;
  std::string message;
};

inline constexpr size_t kMaxErrorMessage = 1000;  // characters

// "Error executing function <function>: <name>: <message>", cut.
std::string friendly_error(std::string_view function_name, const PythonError& error);

// The exception at the end of what a process wrote to stderr: looks at the last three pieces between line ends.
PythonError error_in_stderr(std::string_view text);

}  // namespace bj
