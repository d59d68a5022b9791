#include "egress/destination.h"

#include <ifaddrs.h>
#include <linux/netfilter_ipv4.h>
#include <netinet/in.h>

#include "launcher/gated_network.h"

namespace bj {
namespace {

constexpr int kOriginalDestination6 = 80;  // IP6T_SO_ORIGINAL_DST

IpAddress address_of(const sockaddr_in& from) {
  uint8_t bytes[4];
  std::memcpy(bytes, &from.sin_addr, sizeof bytes);
  return IpAddress::v4(bytes);
}

IpAddress address_of(const sockaddr_in6& from) {
  std::array<uint8_t, 16> bytes{};
  std::memcpy(bytes.data(), &from.sin6_addr, bytes.size());
  return IpAddress::v6(bytes);
}

}  // namespace

std::optional<Destination> original_destination(asio::ip::tcp::socket& accepted) {
  boost::system::error_code error;
  const asio::ip::tcp::endpoint peer = accepted.remote_endpoint(error);
  if (error) return {};
  Destination found;
  if (peer.address().is_v6() && !peer.address().to_v6().is_v4_mapped()) {
    sockaddr_in6 address{};
    socklen_t size = sizeof address;
    if (::getsockopt(accepted.native_handle(), IPPROTO_IPV6, kOriginalDestination6, &address, &size) != 0) return {};
    found = {address_of(address), ntohs(address.sin6_port)};
  } else {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    if (::getsockopt(accepted.native_handle(), IPPROTO_IP, SO_ORIGINAL_DST, &address, &size) != 0) return {};
    found = {address_of(address), ntohs(address.sin_port)};
  }
  const bool loopback = kind_of(found.address) == AddressKind::kLoopback;
  if (loopback && found.port == gate_rules::kConnectionsPort) return {};
  return found;
}

asio::ip::tcp::endpoint endpoint_of(const IpAddress& address, uint16_t port) {
  if (!address.is_v6) return {asio::ip::address_v4(address.v4_value()), port};
  return {asio::ip::address_v6(address.bytes), port};
}

Result<std::vector<IpAddress>> own_addresses() {
  std::vector<IpAddress> found;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return fail_errno("getifaddrs");
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr) continue;
    if (one->ifa_addr->sa_family == AF_INET) {
      found.push_back(address_of(*reinterpret_cast<const sockaddr_in*>(one->ifa_addr)));
    } else if (one->ifa_addr->sa_family == AF_INET6) {
      found.push_back(address_of(*reinterpret_cast<const sockaddr_in6*>(one->ifa_addr)));
    }
  }
  ::freeifaddrs(list);
  return found;
}

// From an address of its own the kernel speaks to that very address. No packet is sent. Who gets no socket for that
// gets none to connect with either.
bool is_own_address(const IpAddress& address) {
  constexpr uint16_t kAnyPort = 9;
  const asio::ip::tcp::endpoint place = endpoint_of(address, kAnyPort);
  const Fd socket(::socket(place.protocol().family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (::connect(socket.get(), place.data(), static_cast<socklen_t>(place.size())) != 0) return false;
  asio::ip::tcp::endpoint from;
  socklen_t size = static_cast<socklen_t>(from.capacity());
  if (::getsockname(socket.get(), from.data(), &size) != 0) return false;
  return from.address() == place.address();
}

void reset(asio::ip::tcp::socket& socket) {
  boost::system::error_code ignored;
  socket.set_option(asio::socket_base::linger(true, 0), ignored);
  socket.close(ignored);
}

}  // namespace bj
