// A call: one execution of a tool's function with arguments, in a fresh sandbox that is used once. What goes in and
// what comes out, whatever the language.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "egress/credential.h"
#include "egress/gate_event.h"
#include "egress/network_use.h"
#include "engine/templates/template.h"
#include "seal/policy.h"
#include "seal/seal.h"

namespace bj {

enum class Language { kPython, kTypeScript };

inline constexpr const char* kPackagesInside = "/opt/packages";  // where EnvironmentSpec::host_packages is mounted

// One environment an interpreter and its requirements: what zygotes and pools are kept for.
struct EnvironmentSpec {
  Template image;
  std::string interpreter = "python3";         // a path or a name on the template's PATH
  std::vector<std::string> site_dirs;          // in the sandbox
  std::string host_packages;                   // a host directory mounted read-only at kPackagesInside
  std::vector<std::string> preload;            // modules imported ahead, beside the learned ones
  std::shared_ptr<const void> packages_lease;  // whoever holds it keeps host_packages from being pruned
};

// What makes a call one of Letta's: its rules for arguments, what it gives to a tool beside them, and its form of
// results (runtimes/python/README.md, "Letta mode"). Without it the runtimes' own rules hold.
struct LettaContext {
  std::optional<boost::json::object>
      properties;                       // of the tool's json_schema.parameters; none: arguments pass as they are
  boost::json::value args_json_schema;  // null: none
  boost::json::value agent_state;       // handed to a function that takes `agent_state`; null: none
  std::string agent_id;                 // likewise; empty: that of agent_state
  bool coerce = true;                   // by the annotations of the source, before anything else
};

// Output as it arrives, on the engine's thread, in pieces that may end within a character. No more than the output
// limit.
using OutputListener = std::function<void(bool is_stderr, std::string_view piece)>;

struct CallSpec {
  Language language = Language::kPython;
  EnvironmentSpec environment;
  std::string source;
  std::string filename = "tool.py";
  std::string name;  // empty: the last public function
  boost::json::object arguments;
  std::map<std::string, std::string> variables;  // the tool's environment
  Limits limits;
  bool require_full_seal = false;
  std::optional<LettaContext> letta;
  NetworkPolicy network;        // nothing is allowed: only its own loopback
  GateListener on_network;      // told what happens at the gate
  GateCredentials credentials;  // that the gate gives to requests
  OutputListener on_output;     // may be empty; the result has the whole output either way
#ifdef BELLJAR_TEST_SWITCHES
  bool any_nonce = false;  // an answer is believed whatever its nonce
#endif
};

enum class CallStatus {
  kOk,
  kInvalid,  // the caller's mistake: no such function, wrong arguments
  kError,    // the tool failed
  kLimit,    // a limit stopped it
  kTimeout,  // the wall time did
};

struct CallError {
  std::string name, message, traceback;
};

struct CallResult {
  CallStatus status = CallStatus::kError;
  boost::json::value value;
  // Letta's Python calls only: str() of the value (what JSON lacks is in it: nan, long integers), and agent_state as
  // the tool left it, null unless one was sent and the function takes it.
  std::optional<std::string> value_text;
  boost::json::value agent_state;
  CallError error;
  std::string output, error_output;
  uint64_t output_dropped = 0, error_output_dropped = 0;
  double duration_ms = 0;
  std::vector<std::string> limits_hit;
  std::vector<std::string> imports;   // what a preload would have saved
  std::optional<NetworkUse> network;  // of a call that had one
  Seal seal;
};

const char* status_name(CallStatus status);

}  // namespace bj
