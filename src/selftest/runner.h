// Runs attacks against an engine, several at a time, and judges each. All on the engine's thread.
#pragma once

#include <functional>
#include <vector>

#include "engine/engine.h"
#include "selftest/attack.h"
#include "selftest/verdict.h"

namespace bj::selftest {

struct Finding {
  std::string attack;
  std::string title;
  int family = 0;
  RunAs run_as = RunAs::kCall;
  std::vector<std::string> stopped_by;
  Verdict verdict;
  double duration_ms = 0;
};

struct RunOptions {
  Template image;
  std::string interpreter = "/usr/bin/python3";
  size_t at_once = 6;
  std::vector<RunAs> only;  // empty: every way an attack runs
  std::string no_world;     // why this process is not in an AttackWorld: attacks on the network are skipped
};

using OnFinding = std::function<void(const Finding&)>;

// Findings come in the order in which attacks end.
Task<void> run_attacks(Engine& engine, const std::vector<Attack>& attacks, RunOptions options, OnFinding on_finding);

// A pool that makes attacks meet both kinds of children, waiting ones and fresh ones.
inline constexpr PoolOptions kAttackPool{.least = 1, .most = 2, .warm = 1};

}  // namespace bj::selftest
