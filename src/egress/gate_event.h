// What happened at a gate, for receipts and for whoever wants to tell the program's owner.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "egress/policy.h"

namespace bj {

struct GateEvent {
  enum class Kind { kNameDenied, kConnectionDenied, kUpstreamFailed, kConnected, kSecretUsed, kCapReached, kEnded };
  Kind kind = Kind::kConnectionDenied;
  std::string host;                             // the name, or the address if there was none
  uint16_t port = 0;                            // 0: a name was asked for
  std::string address;                          // the one connected to, once it is known
  Decision decision;                            // with the rule and the reason; of kUpstreamFailed the reason only
  std::string credential;                       // of kSecretUsed: its name
  std::string cap;                              // of kCapReached: its name; the reason says what it did
  uint64_t bytes_sent = 0, bytes_received = 0;  // of kEnded, as the sandbox sees it
};

// Called on the gate's thread; must not call the gate.
using GateListener = std::function<void(const GateEvent& event)>;

}  // namespace bj
