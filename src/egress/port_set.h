// A set of ports as sorted ranges that don't touch: for what a name's address is admitted to in the kernel.
#pragma once

#include <vector>

#include "egress/policy.h"

namespace bj {

class PortSet {
 public:
  PortSet() = default;
  explicit PortSet(std::vector<PortRange> ranges);  // in any order, overlapping or not
  static PortSet all() { return PortSet({PortRange{}}); }

  PortSet joined(const PortSet& other) const;
  PortSet common(const PortSet& other) const;
  PortSet without(const PortSet& other) const;
  bool empty() const { return ranges_.empty(); }
  const std::vector<PortRange>& ranges() const { return ranges_; }

 private:
  std::vector<PortRange> ranges_;
};

}  // namespace bj
