// The addresses by which a sandbox knows names. It never sees a real one: each allowed name gets the next pair from
// ranges that lead nowhere, and keeps it as long as the sandbox lives, because programs pin addresses and ignore TTLs:
// a pair given to another name would send old connections to a wrong host.
//
// One per sandbox; not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/fd.h"
#include "egress/ip_address.h"

namespace bj {

struct SyntheticPair {
  IpAddress v4;  // 198.18.1.0 upwards
  IpAddress v6;  // fd00:be11::1:0 upwards
};

class SyntheticNames {
 public:
  static constexpr size_t kMost = 65536;  // up to 198.19.0.255
  explicit SyntheticNames(size_t most = 1024);

  // The pair of a normalized name, the same each time. Code::kExhausted once `most` names have one.
  Result<SyntheticPair> pair_of(std::string_view name);
  // Null: not given to any name here. Valid as long as this object.
  const std::string* name_of(const IpAddress& address) const;
  // Is it in the ranges such addresses come from, whether given or not?
  static bool is_synthetic(const IpAddress& address);
  size_t size() const { return names_.size(); }
  // Names that get a pair from now on are written to this file, one a line, too; those in it have theirs first, in its
  // order. So whoever has the file goes on with the same pairs.
  Result<void> remember_in(Fd file);
  std::vector<std::string> all() const;
  // From now on; names that have a pair keep it.
  void limit(size_t most) { most_ = std::min(most, kMost); }

 private:
  size_t most_;
  std::vector<const std::string*> names_;  // by number; the strings are the map's keys, which stay where they are
  std::unordered_map<std::string, size_t> numbers_;
  Fd file_;
};

}  // namespace bj
