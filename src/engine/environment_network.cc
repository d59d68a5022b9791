#include "engine/environment_network.h"

#include <algorithm>

#include "egress/destination.h"
#include "egress/name_resolver.h"

namespace bj {
namespace {

// The one target and the one port of a rule that preset_layer() made of a host.
struct Place {
  Target target;
  PortRange ports;
};

std::vector<Place> places_of(const std::vector<std::string>& hosts) {
  std::vector<Place> places;
  for (const NetworkRule& rule : preset_layer(NetworkPreset::kPackages, "", hosts).preset_rules) {
    for (const PortRange& ports : rule.ports) places.push_back({rule.targets.front(), ports});
  }
  return places;
}

Task<std::vector<IpAddress>> addresses_of(Target target) {
  if (target.kind == Target::Kind::kRange) co_return std::vector<IpAddress>{target.range.base};
  NameResolver resolver(co_await asio::this_coro::executor);
  co_return (co_await resolver.resolve(target.name)).value_or(std::vector<IpAddress>());
}

}  // namespace

Task<NetworkPolicy> builders_network(IndexSettings index) {
  NetworkPolicy policy;
  policy.layers = {preset_layer(NetworkPreset::kPackages, "packages", package_hosts(index))};
  const std::vector<IpAddress> own = own_addresses();
  for (const Place& place : places_of(configured_hosts(index))) {
    for (const IpAddress& address : co_await addresses_of(place.target)) {
      const bool is_own = std::find(own.begin(), own.end(), address) != own.end();
      if (kind_of(address) == AddressKind::kPublic && !is_own) continue;
      const PrivateAddress listed{address, place.ports};
      auto& list = policy.private_addresses;
      if (std::find(list.begin(), list.end(), listed) == list.end()) list.push_back(listed);
    }
  }
  co_return policy;
}

}  // namespace bj
