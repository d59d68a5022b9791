#include "cli/seal_text.h"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "cli/json_output.h"

namespace bj {
namespace {

struct Group {
  const char* name;
  std::vector<Control> controls;
};

const std::array<Group, 4>& groups() {
  using enum Control;
  static const std::array<Group, 4> kGroups = {{
      {"namespaces", {kUserNs, kPidNs, kMountNs, kNetNs, kIpcNs, kUtsNs, kCgroupNs}},
      {"files", {kRoot, kReadOnly, kIdmap, kProc, kDev, kLandlock, kDisk}},
      {"privileges", {kUid, kCaps, kNoNewPrivs, kSeccomp, kFds, kSession, kEnvironment}},
      {"limits", {kMemory, kCpu, kPids, kIo, kRlimits}},
  }};
  return kGroups;
}

}  // namespace

std::string seal_text(const Seal& seal) {
  std::string out = seal.full() ? "seal: full\n" : "seal: lacks " + seal.missing() + "\n";
  for (const Group& group : groups()) {
    out += fmt::format("  {:<11}", group.name);
    for (const Control control : group.controls) {
      const ControlState state = seal.at(control).state;
      out += fmt::format(" {}{}", name_of(control),
                         state == ControlState::kOn ? "" : fmt::format("({})", state_name(state)));
    }
    out += "\n";
  }
  return out;
}

std::string seal_warning(const Seal& seal) {
  std::string names;
  for (size_t i = 1; i < static_cast<size_t>(Control::kCount); ++i) {
    const auto control = static_cast<Control>(i);
    if (seal.at(control).state != ControlState::kOn)
      names += (names.empty() ? "" : ", ") + std::string(name_of(control));
  }
  return names.empty() ? "" : "the seal is not full: it lacks " + names + " (`belljar doctor` tells why)";
}

}  // namespace bj
