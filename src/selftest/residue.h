// What a run left behind on the host: looked at from outside, after the engine has stopped.
#pragma once

#include <string>
#include <vector>

namespace bj::selftest {

// The host before the run.
struct Before {
  size_t mounts = 0;
};
Before look_before();

// What is still there of the engine called `instance`: control groups, mounts, processes. Empty: nothing.
std::vector<std::string> residue(const Before& before, const std::string& instance);

}  // namespace bj::selftest
