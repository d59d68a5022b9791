// One attack: a program that misbehaves on purpose, with a header that says how it is run and what must stop it. The
// contract of the header is tests/attacks/README.md. Parsing is pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "egress/credential.h"
#include "egress/policy.h"
#include "seal/policy.h"

namespace bj::selftest {

enum class RunAs {
  kCall,    // a tool call: the value of attack()
  kExec,    // a program of `user` in a fresh writable sandbox
  kRoot,    // the same as root inside
  kZygote,  // a module that a zygote imports ahead of its calls
};
std::string_view name_of(RunAs run_as);

// What the host does with the sandbox's files when the program has ended.
struct Then {
  enum class Verb { kRead, kWrite, kList };
  Verb verb = Verb::kRead;
  std::string path;
};

// What no sandbox may come to hold: where it appears in what an attack says, the attack has succeeded.
inline constexpr const char* kCredentialSecret = "belljar-credential-4b1d0f7a92c85e36";

struct Attack {
  std::string name;  // "07_unshare"; of a pair, what both halves share
  std::string title;
  int family = 0;
  std::vector<RunAs> runs;
  std::vector<std::string> stopped_by;  // empty: by design, there is nothing to switch off
  std::vector<std::string> needs;
  Limits limits;
  std::string killed_by;  // the limit that must be reported, by its name in `limits_hit`
  bool answer_refused = false;
  bool must_differ = false;
  std::optional<Then> then;
  std::optional<NetworkPolicy> network;  // it runs behind a gate with this, among the servers of attack_world.h
  std::string policy_refused;            // why there is no such policy, where that is what is expected
  GateCredentials credentials;           // that the gate has; their value is kCredentialSecret
  std::string event;                     // what the gate must have told
  std::string filename;                  // "07_unshare.py"
  std::string program;                   // source, or the compiled program
  std::string leave;                     // of a pair: what runs before `program`
};

struct AttackFile {
  std::string name;
  std::string text;     // with the header
  std::string program;  // the same, or what was compiled from it
};

// The halves of a pair become one attack. Sorted by name. A header that breaks the contract is an error that names it.
Result<std::vector<Attack>> parse_attacks(const std::vector<AttackFile>& files);

// Those whose name or control contains `filter`; all of them if it is empty.
std::vector<Attack> filtered(std::vector<Attack> attacks, std::string_view filter);

}  // namespace bj::selftest
