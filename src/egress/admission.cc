#include "egress/admission.h"

#include <algorithm>
#include <optional>

#include "launcher/gate_control.h"
#include "launcher/gated_network.h"
#include "sys/nftables.h"

namespace bj {
namespace {

using namespace gate_rules;

std::vector<uint8_t> key_of(const IpAddress& address, uint16_t port) {
  return nft::pair_key({address.bytes.data(), address.is_v6 ? 16u : 4u}, port);
}

// The reverse of key_of().
std::optional<RefusedPlace> place_of(const std::vector<uint8_t>& key) {
  const size_t address_size = key.size() == 20 ? 16 : 4;
  if (key.size() != address_size + 4) return {};
  RefusedPlace place;
  place.address.is_v6 = address_size == 16;
  std::copy_n(key.begin(), address_size, place.address.bytes.begin());
  place.port = static_cast<uint16_t>(key[address_size] << 8 | key[address_size + 1]);
  return place;
}

IpAddress last_of(const Cidr& range) {
  IpAddress last = range.base;
  const unsigned bits = range.base.is_v6 ? 128 : 32;
  for (unsigned bit = range.prefix; bit < bits; ++bit) {
    last.bytes[bit / 8] = static_cast<uint8_t>(last.bytes[bit / 8] | 0x80u >> bit % 8);
  }
  return last;
}

void add_range(nft::Transaction& t, const char* set, const Cidr& range, const PortRange& ports) {
  t.add_element(set, key_of(range.base, ports.first), key_of(last_of(range), ports.last));
}

}  // namespace

Result<void> Admission::admit(const IpAddress& address, const std::vector<PortRange>& ports) {
  nft::Transaction t(kTable);
  for (const PortRange& range : ports) {
    if (!t.has_room()) return fail(Code::kExhausted, "a rule about too many ports");
    t.add_element(address.is_v6 ? kNames6 : kNames4, key_of(address, range.first), key_of(address, range.last));
  }
  return t.commit(rules_.get(), "admit a name");
}

Result<void> Admission::forget_names() {
  nft::Transaction t(kTable);
  for (const char* set : {kNames4, kNames6}) t.remove_all_elements(set);
  return t.commit(rules_.get(), "forget the names");
}

Result<RefusedPlaces> Admission::take_refused() {
  RefusedPlaces refused;
  nft::Transaction t(kTable);
  for (const auto& [set, by_udp] :
       {std::pair(kRefused4, false), {kRefused6, false}, {kRefusedUdp4, true}, {kRefusedUdp6, true}}) {
    const auto keys = nft::elements_of(rules_.get(), kTable, set);
    // The rules of a sandbox that an older server made have no such set.
    if (!keys && by_udp && keys.error().code == Code::kNotFound) continue;
    if (!keys) return tl::unexpected(keys.error());
    refused.is_full = refused.is_full || keys->size() >= kMostRefused;
    for (const std::vector<uint8_t>& key : *keys) {
      std::optional<RefusedPlace> place = place_of(key);
      if (!place) continue;
      place->by_udp = by_udp;
      refused.places.push_back(*place);
    }
    if (!keys->empty()) t.remove_all_elements(set);
  }
  if (!refused.places.empty()) BJ_CHECK(t.commit(rules_.get(), "forget what was refused"));
  return refused;
}

// Private addresses that an administrator listed are reached all the same: as ranges of one address among the names'.
Result<void> Admission::open_ranges(const NetworkPolicy& policy) {
  const std::vector<DirectRange> open = direct_ranges(policy);
  nft::Transaction t(kTable);
  for (const char* set : {kClosed4, kClosed6, kOpen4, kOpen6}) t.remove_all_elements(set);
  if (!gate_keeps(GateControl::kAdmission)) {
    IpAddress any6;
    any6.is_v6 = true;
    add_range(t, kOpen4, Cidr{}, PortRange{});
    add_range(t, kOpen6, Cidr{any6, 0}, PortRange{});
    return t.commit(rules_.get(), "open everything");
  }
  if (!open.empty()) {
    for (const Cidr& range : ranges_that_are_not_public()) {
      add_range(t, range.base.is_v6 ? kClosed6 : kClosed4, range, PortRange{0, 65535});
    }
  }
  for (const DirectRange& range : open) {
    if (!t.has_room()) return fail(Code::kInvalid, "a network policy with too many ranges of addresses");
    add_range(t, range.range.base.is_v6 ? kOpen6 : kOpen4, range.range, range.ports);
  }
  for (const PrivateAddress& listed : policy.private_addresses) {
    if (open.empty() || !t.has_room()) break;
    add_range(t, listed.address.is_v6 ? kNames6 : kNames4, Cidr{listed.address, listed.address.is_v6 ? 128u : 32u},
              listed.ports);
  }
  return t.commit(rules_.get(), "open ranges");
}

}  // namespace bj
