// Where a program wanted to go when the kernel led its connection to us, and sockets to and from there.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <optional>

#include "base/async.h"
#include "egress/ip_address.h"

namespace bj {

struct Destination {
  IpAddress address;
  uint16_t port = 0;
};

// The destination before it was redirected. Nothing: it was made to our own port.
std::optional<Destination> original_destination(asio::ip::tcp::socket& accepted);

asio::ip::tcp::endpoint endpoint_of(const IpAddress& address, uint16_t port);

// Every address of this machine's interfaces. Whoever fails to learn them must take every address for one.
Result<std::vector<IpAddress>> own_addresses();

// The same of one address, as it is now: they come and go.
bool is_own_address(const IpAddress& address);

// The peer sees a reset, now.
void reset(asio::ip::tcp::socket& socket);

}  // namespace bj
