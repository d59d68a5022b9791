// What makes a network namespace one whose only way out is the gate: addresses to come from, a default route to
// nowhere but loopback, the rule set that leads admitted connections to our listeners and refuses all else at once, and
// these listeners. The rules belong to whoever owns the namespace (the launcher), so nobody inside can change them.
#pragma once

#include <array>
#include <cstdint>

#include "base/error.h"
#include "base/fd.h"

namespace bj {

// The gate's ends of a namespace. In this order they are passed on sockets.
struct GateEndpoints {
  Fd connections;  // TCP, where admitted connections are redirected to
  Fd dns_streams;  // TCP port 53
  Fd dns_packets;  // UDP port 53
  Fd rules;        // netlink, to change the sets below

  static constexpr size_t kCount = 4;
  std::array<Fd*, kCount> all() { return {&connections, &dns_streams, &dns_packets, &rules}; }
};

namespace gate_rules {

inline constexpr const char* kTable = "gate";
// Synthetic addresses with the ports that their names may be reached on, and single private addresses: led to the gate.
inline constexpr const char* kNames4 = "names4";
inline constexpr const char* kNames6 = "names6";
// Ranges of real addresses that are refused although one of the next covers them.
inline constexpr const char* kClosed4 = "closed4";
inline constexpr const char* kClosed6 = "closed6";
// Ranges of real addresses: led to the gate.
inline constexpr const char* kOpen4 = "open4";
inline constexpr const char* kOpen6 = "open6";

// What was refused in connect() or when it was sent, each place once, as far as there is room.
inline constexpr const char* kRefused4 = "refused4";
inline constexpr const char* kRefused6 = "refused6";
inline constexpr const char* kRefusedUdp4 = "refused_udp4";
inline constexpr const char* kRefusedUdp6 = "refused_udp6";
inline constexpr uint32_t kMostRefused = 256;  // of each

inline constexpr uint16_t kConnectionsPort = 15001;
inline constexpr uint16_t kDnsPort = 53;

}  // namespace gate_rules

// Furnishes the caller's own, fresh network namespace.
Result<GateEndpoints> furnish_gated_network();

}  // namespace bj
