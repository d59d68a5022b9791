// What the kernel lets through to the gate: sets of (address . port) in one sandbox's network namespace. Everything
// that is not in them is refused inside connect(). A superset of the policy: the gate has the last word.
#pragma once

#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "egress/policy.h"

namespace bj {

struct RefusedPlace {
  IpAddress address;
  uint16_t port = 0;
  bool by_udp = false;
};
struct RefusedPlaces {
  std::vector<RefusedPlace> places;
  bool is_full = false;  // there was room for no more, so there may have been others
};

class Admission {
 public:
  explicit Admission(Fd rules) : rules_(std::move(rules)) {}

  // A name's address, on these ports.
  Result<void> admit(const IpAddress& address, const std::vector<PortRange>& ports);
  // The ranges of real addresses that the policy may allow; replaces those of the policy before.
  Result<void> open_ranges(const NetworkPolicy& policy);
  // What the kernel refused since the last time, each place once and not all of very many.
  Result<RefusedPlaces> take_refused();
  // No name's address is let through any more.
  Result<void> forget_names();

 private:
  Fd rules_;
};

}  // namespace bj
