#include "launcher/gate_control.h"

#ifdef BELLJAR_TEST_SWITCHES

#include <algorithm>
#include <array>
#include <bitset>

namespace bj {
namespace {

constexpr std::array<std::string_view, 12> kNames = {"gate-refusal",  "gate-admission", "gate-ownership", "gate-names",
                                                     "gate-decision", "gate-private",   "gate-pinning",   "gate-hello",
                                                     "gate-requests", "gate-single",    "gate-caps",      "gate-turns"};

// Written once, before anything runs.
std::bitset<kNames.size()> switched_off;

}  // namespace

bool gate_keeps(GateControl control) { return !switched_off[static_cast<size_t>(control)]; }

std::vector<std::string_view> switches_in(std::string_view names) {
  std::vector<std::string_view> out;
  for (size_t at = 0; at <= names.size();) {
    const size_t end = std::min(names.find(',', at), names.size());
    out.push_back(names.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

void switch_off_in_gates(std::string_view names) {
  switched_off.reset();
  for (const std::string_view name : switches_in(names)) {
    const auto found = std::find(kNames.begin(), kNames.end(), name);
    if (found != kNames.end()) switched_off.set(static_cast<size_t>(found - kNames.begin()));
  }
}

}  // namespace bj

#endif
