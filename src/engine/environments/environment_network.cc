#include "engine/environments/environment_network.h"

#include <algorithm>

#include "egress/destination.h"
#include "egress/name_resolver.h"

namespace bj {
namespace {

// The one target and the one port of a rule that preset_layer() made of a host.
struct Place {
  Target target;
  PortRange ports;
  bool configured = false;  // by an administrator
};

std::vector<Place> places_of(const std::vector<std::string>& hosts, const std::vector<std::string>& configured) {
  std::vector<Place> places;
  for (const std::string& host : hosts) {
    const bool is_configured = std::find(configured.begin(), configured.end(), host) != configured.end();
    for (const NetworkRule& rule : preset_layer(NetworkPreset::kPackages, "", {host}).preset_rules) {
      for (const PortRange& ports : rule.ports) places.push_back({rule.targets.front(), ports, is_configured});
    }
  }
  return places;
}

bool could_be_a_mirror(const IpAddress& address) {
  switch (kind_of(address)) {
    case AddressKind::kUnspecified:
    case AddressKind::kLoopback:
    case AddressKind::kLinkLocal:
    case AddressKind::kMetadata:
    case AddressKind::kMulticast: return false;
    default: return true;
  }
}

Task<std::vector<IpAddress>> addresses_of(Target target) {
  if (target.kind == Target::Kind::kRange) co_return std::vector<IpAddress>{target.range.base};
  NameResolver resolver(co_await asio::this_coro::executor);
  co_return (co_await resolver.resolve(target.name)).value_or(std::vector<IpAddress>());
}

}  // namespace

Task<NetworkPolicy> builders_network(IndexSettings index) {
  std::vector<std::string> hosts = index_hosts(index);
  co_return co_await builders_network(std::move(index), std::move(hosts));
}

Task<NetworkPolicy> builders_network(IndexSettings index, std::vector<std::string> hosts) {
  NetworkPolicy policy;
  policy.layers = {preset_layer(NetworkPreset::kPackages, "packages", hosts)};
  const std::vector<std::string> configured = configured_hosts(index);
  const Result<std::vector<IpAddress>> own = own_addresses();
  for (const Place& place : places_of(hosts, configured)) {
    for (const IpAddress& address : co_await addresses_of(place.target)) {
      const bool is_own = !own || std::ranges::find(*own, address) != own->end();
      if (kind_of(address) == AddressKind::kPublic && !is_own) continue;
      if (!place.configured && (is_own || !could_be_a_mirror(address))) continue;
      const PrivateAddress listed{address, place.ports};
      auto& list = policy.private_addresses;
      if (std::find(list.begin(), list.end(), listed) == list.end()) list.push_back(listed);
    }
  }
  co_return policy;
}

}  // namespace bj
