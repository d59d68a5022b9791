// The controls of the gate by the names that attacks give them (tests/attacks), and whether each is kept. In a release
// all are, and the question costs nothing: there is no switch. The test build can leave one out, to show what it is
// for.
#pragma once

#ifdef BELLJAR_TEST_SWITCHES
#include <string_view>
#include <vector>
#endif

namespace bj {

enum class GateControl {
  kRefusal,    // gate-refusal: the kernel refuses what is led nowhere
  kAdmission,  // gate-admission: only admitted pairs of address and port are led to the gate
  kOwnership,  // gate-ownership: the network namespace is not the sandbox's own
  kNames,      // gate-names: only names that policy allows have an address
  kDecision,   // gate-decision: rules are asked about the resolved address and its port
  kPrivate,    // gate-private: addresses that are not public, and the server's own, are denied before any rule
  kPinning,    // gate-pinning: the address that was decided on is the one connected to
  kHello,      // gate-hello: the name in TLS or HTTP is that of the connection
  kRequests,   // gate-requests: rules about methods and paths are asked for each request
  kSingle,     // gate-single: one request, whose end is known, on a connection that has such rules
  kCaps,       // gate-caps: bytes, connections and names are bounded
  kTurns,      // gate-turns: a sandbox has a share of the threads that resolve names
};

#ifdef BELLJAR_TEST_SWITCHES
bool gate_keeps(GateControl control);
// The names in "caps,gate-ownership".
std::vector<std::string_view> switches_in(std::string_view names);
// In this process and those cloned from it. Names of other controls are none of ours.
void switch_off_in_gates(std::string_view names);
#else
constexpr bool gate_keeps(GateControl) { return true; }
#endif

}  // namespace bj
