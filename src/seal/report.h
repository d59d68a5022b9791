// The seal of a sandbox, read off the plan that made it: a control is on because its steps are in the plan, not because
// somebody meant it to be.
#pragma once

#include <map>
#include <string>

#include "seal/plan.h"

namespace bj {

struct SealFacts {
  const Plan* plan = nullptr;
  uint64_t clone_flags = 0;
  bool own_network = false;
  bool idmapped = false;
  bool calls = false;  // a call's process: read-only root, own uid
  IdMap::Kind ids = IdMap::Kind::kRange;
  std::map<Control, std::string> unavailable;  // what this machine lacks, and why
};

Seal report_seal(const SealFacts& facts);

}  // namespace bj
