// Which bare addresses a policy could allow: ranges for the kernel's set.
#include <algorithm>

#include "egress/policy.h"

namespace bj {
namespace {

constexpr size_t kMostPairs = 1 << 16;  // work of one intersection
constexpr size_t kMostCompared = 1024;

void add_rules(const std::vector<NetworkRule>& rules, std::vector<DirectRange>& ranges) {
  for (const NetworkRule& rule : rules) {
    if (rule.action != NetworkRule::Action::kAllow) continue;
    for (const Target& target : rule.targets) {
      for (const PortRange& ports : rule.ports) {
        if (target.kind == Target::Kind::kRange) ranges.push_back({target.range, ports});
        if (target.kind != Target::Kind::kPublic) continue;
        ranges.push_back({Cidr{IpAddress::v4(0u), 0}, ports});
        ranges.push_back({Cidr{IpAddress::v6({}), 0}, ports});
      }
    }
  }
}

bool covers(const DirectRange& a, const DirectRange& b) {
  return a.range.contains(b.range) && a.ports.first <= b.ports.first && a.ports.last >= b.ports.last;
}

std::vector<DirectRange> without_covered(std::vector<DirectRange> ranges) {
  std::sort(ranges.begin(), ranges.end());
  ranges.erase(std::unique(ranges.begin(), ranges.end()), ranges.end());
  if (ranges.size() > kMostCompared) return ranges;
  std::vector<DirectRange> kept;
  for (const DirectRange& one : ranges) {
    const bool covered = std::any_of(ranges.begin(), ranges.end(),
                                     [&](const DirectRange& other) { return other != one && covers(other, one); });
    if (!covered) kept.push_back(one);
  }
  return kept;
}

std::vector<DirectRange> common(const std::vector<DirectRange>& a, const std::vector<DirectRange>& b) {
  if (a.size() * b.size() > kMostPairs) return a.size() < b.size() ? a : b;  // either holds what both allow
  std::vector<DirectRange> both;
  for (const DirectRange& one : a) {
    for (const DirectRange& other : b) {
      const PortRange ports{std::max(one.ports.first, other.ports.first), std::min(one.ports.last, other.ports.last)};
      if (ports.first > ports.last) continue;
      if (one.range.contains(other.range))
        both.push_back({other.range, ports});
      else if (other.range.contains(one.range))
        both.push_back({one.range, ports});
    }
  }
  return without_covered(std::move(both));
}

}  // namespace

std::vector<DirectRange> direct_ranges(const NetworkPolicy& policy) {
  std::vector<DirectRange> reachable;
  for (size_t i = 0; i < policy.layers.size(); ++i) {
    std::vector<DirectRange> of_layer;
    add_rules(policy.layers[i].rules, of_layer);
    add_rules(policy.layers[i].preset_rules, of_layer);
    if (i == 0) {
      for (const PrivateAddress& one : policy.private_addresses)
        of_layer.push_back({Cidr{one.address, one.address.is_v6 ? 128u : 32u}, one.ports});
    }
    reachable = i == 0 ? without_covered(std::move(of_layer)) : common(reachable, of_layer);
  }
  return reachable;
}

}  // namespace bj
