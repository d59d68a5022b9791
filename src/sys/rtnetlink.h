// Links, addresses and routes of the network namespace that the socket was opened in.
#pragma once

#include <span>

#include "sys/netlink.h"

namespace bj::rt {

inline constexpr int kLoopback = 1;  // its index in every namespace

void set_link_up(NetlinkBatch& batch, int index);
// A single address (/32, /128) on loopback. family: AF_INET, AF_INET6.
void add_address(NetlinkBatch& batch, int family, std::span<const uint8_t> address);
// Everything leaves through loopback, from that address.
void add_default_route(NetlinkBatch& batch, int family, std::span<const uint8_t> source);

}  // namespace bj::rt
