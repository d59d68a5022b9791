// How an attack ended, judged from what came back. Pure: the runner collects, this decides.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/calls/call.h"
#include "selftest/attack.h"

namespace bj::selftest {

enum class Outcome {
  kHeld,
  kEscaped,
  kBroken,   // the attack itself did not work: it proves nothing
  kSkipped,  // this machine lacks what it needs
};
std::string_view name_of(Outcome outcome);

struct Verdict {
  Outcome outcome = Outcome::kBroken;
  std::string detail;  // what stopped it, what got through, why not; printable, one line
};

// A program that ran in a sandbox.
struct ProgramEnd {
  std::optional<int> status;  // as wait(2); nothing if the sandbox ended first
  std::string output, error_output;
  uint64_t dropped = 0;  // of both, beyond the limit
  std::vector<std::string> limits_hit;
  double duration_ms = 0;
};

Verdict judge_call(const Attack& attack, const CallResult& result);
Verdict judge_program(const Attack& attack, const ProgramEnd& end);

// Of two runs whose VALUEs must differ.
Verdict judge_difference(const Verdict& first, const Verdict& second);

// What the attack said, without a look at anything else: "HELD: why", "ESCAPED: what", "BROKEN: why", "VALUE: text"
// (held).
std::optional<Verdict> spoken(const std::string& text);

// One line of at most `limit` bytes, without anything that a terminal obeys.
std::string printable(const std::string& text, size_t limit = 200);

}  // namespace bj::selftest
