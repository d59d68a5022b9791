#include "egress/port_set.h"

#include <algorithm>

namespace bj {

PortSet::PortSet(std::vector<PortRange> ranges) {
  std::sort(ranges.begin(), ranges.end());
  for (const PortRange& range : ranges) {
    if (range.first > range.last) continue;
    if (!ranges_.empty() && range.first <= unsigned{ranges_.back().last} + 1)
      ranges_.back().last = std::max(ranges_.back().last, range.last);
    else
      ranges_.push_back(range);
  }
}

PortSet PortSet::joined(const PortSet& other) const {
  std::vector<PortRange> both = ranges_;
  both.insert(both.end(), other.ranges_.begin(), other.ranges_.end());
  return PortSet(std::move(both));
}

PortSet PortSet::common(const PortSet& other) const {
  std::vector<PortRange> both;
  for (const PortRange& mine : ranges_) {
    for (const PortRange& theirs : other.ranges_)
      both.push_back({std::max(mine.first, theirs.first), std::min(mine.last, theirs.last)});
  }
  return PortSet(std::move(both));  // drops the empty ones
}

PortSet PortSet::without(const PortSet& other) const {
  std::vector<PortRange> outside;
  unsigned next = 1;
  for (const PortRange& range : other.ranges_) {
    if (range.first > next) outside.push_back({static_cast<uint16_t>(next), static_cast<uint16_t>(range.first - 1)});
    next = unsigned{range.last} + 1;
  }
  if (next <= 65535) outside.push_back({static_cast<uint16_t>(next), 65535});
  return common(PortSet(std::move(outside)));
}

}  // namespace bj
