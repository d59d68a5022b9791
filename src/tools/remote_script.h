// The scripts that run a tool where only "run this code" exists: in a cloud's Jupyter cell or under its `python3`.
// Source, arguments and state travel as base64 of JSON, never as code, so no value can change what the script does. The
// answer carries the call's nonce: a frame on stdout, or the text of the last expression.
#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>

#include "base/error.h"

namespace bj {

enum class RemoteAnswer { kFrame, kLastExpression };

struct RemoteCall {
  std::string name;    // of the function
  std::string source;  // of the tool
  boost::json::object arguments;
  std::optional<boost::json::object> json_schema;  // arguments that are not among its properties are not passed on
  std::optional<std::string> agent_id;
  boost::json::value agent_state;  // null: none
  std::string nonce;
};

// Fails when the function's name is no identifier.
Result<std::string> python_script(const RemoteCall& call, RemoteAnswer answer);
// TypeScript has only the last expression; agent_state and agent_id are not passed on.
Result<std::string> typescript_script(const RemoteCall& call);

}  // namespace bj
