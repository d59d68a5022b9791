// What a sandbox did with its network, summed up from the events of its gate: which places it reached with how many
// bytes, and what was denied or failed with the reason. Bounded whatever the program does: further places are counted.
//
// Plain data; not thread-safe.
#pragma once

#include <boost/json/object.hpp>
#include <memory>
#include <string>
#include <vector>

#include "egress/gate_event.h"

namespace bj {

struct NetworkUse {
  struct Reached {
    std::string host;
    uint16_t port = 0;
    uint64_t connections = 0;
    uint64_t bytes_sent = 0, bytes_received = 0;  // of connections that have ended; as the sandbox sees it
  };
  struct Refused {
    std::string host;
    uint16_t port = 0;  // 0: the name was asked for
    std::string reason;
    uint64_t times = 0;
  };
  static constexpr size_t kMost = 32;  // of each list

  std::vector<Reached> reached;  // in the order of their first time, like the next ones
  std::vector<Refused> denied;   // by policy
  std::vector<Refused> failed;   // allowed, but there was no connection to be had
  std::vector<std::string> caps_reached;
  uint64_t left_out = 0;  // events about places for which there was no room

  void note(const GateEvent& event);
};

// Notes each event in `use`, then tells `next` (may be empty).
GateListener noting(std::shared_ptr<NetworkUse> use, GateListener next);

// {"reached": [{host, port, connections, bytes_sent, bytes_received}], "denied": [{host, port, reason, times}],
//  "failed": [...], "caps_reached": ["bytes_per_second"], "left_out": 0}
boost::json::object network_use_json(const NetworkUse& use);

// "evil.example:443: no rule allows evil.example": one line about a refusal.
std::string refusal_text(const NetworkUse::Refused& refused);

}  // namespace bj
