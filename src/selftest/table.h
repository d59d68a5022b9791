// Findings for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "selftest/runner.h"

namespace bj::selftest {

struct Counts {
  size_t held = 0, escaped = 0, broken = 0, skipped = 0;
  bool clean() const { return escaped == 0 && broken == 0; }
};
Counts count(const std::vector<Finding>& findings);

// "193 held, 0 escaped, 0 broken, 2 skipped"
std::string summary(const Counts& counts);
std::string table(std::vector<Finding> findings);
std::string to_json(std::vector<Finding> findings, const std::vector<std::string>& left_behind);

}  // namespace bj::selftest
