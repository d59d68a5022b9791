#include "seal/report.h"

#include <sched.h>

#include <array>
#include <set>

namespace bj {
namespace {

void set_state(Seal& seal, const SealFacts& facts, Control control, bool on, const std::string& how) {
  if (on) {
    seal.set(control, ControlState::kOn, how);
  } else if (const auto why = facts.unavailable.find(control); why != facts.unavailable.end()) {
    seal.set(control, ControlState::kUnavailable, why->second);
  } else {
    seal.set(control, ControlState::kOff, "switched off");
  }
}

std::string how(Control control, const SealFacts& facts) {
  switch (control) {
    case Control::kDisk: return "size-limited tmpfs over the template; counts as memory";
    case Control::kReadOnly: return facts.calls ? "read-only root" : "overlay: template layers are never written";
    case Control::kProc: return facts.calls ? "own, process entries only" : "own, read-only, masked";
    case Control::kUid: return facts.calls ? "a user id of its own" : "a range of 65,536 user ids of its own";
    case Control::kEnvironment: return "nothing of the server's environment";
    default: return {};
  }
}

}  // namespace

Seal report_seal(const SealFacts& facts) {
  std::set<Control> present;
  for (const Step& step : facts.plan->steps) present.insert(step.control);
  static constexpr std::array<std::pair<Control, uint64_t>, 5> kNamespaces = {{{Control::kUserNs, CLONE_NEWUSER},
                                                                               {Control::kPidNs, CLONE_NEWPID},
                                                                               {Control::kMountNs, CLONE_NEWNS},
                                                                               {Control::kIpcNs, CLONE_NEWIPC},
                                                                               {Control::kUtsNs, CLONE_NEWUTS}}};
  for (const auto& [control, flag] : kNamespaces) {
    present.erase(control);  // steps inside a namespace, such as setting the host name, don't make it
    if ((facts.clone_flags & flag) != 0) present.insert(control);
  }
  if (facts.own_network) present.insert(Control::kNetNs);
  if (facts.idmapped) present.insert(Control::kIdmap);
  if (!facts.calls) present.insert(Control::kReadOnly);
  if (facts.ids == IdMap::Kind::kRange && !facts.calls) present.insert(Control::kUid);
  present.insert(Control::kEnvironment);  // the warden's environment is empty by construction (carry_out: kExec)
  Seal seal;
  for (size_t i = 1; i < static_cast<size_t>(Control::kCount); ++i) {
    const auto control = static_cast<Control>(i);
    set_state(seal, facts, control, present.contains(control), how(control, facts));
  }
  return seal;
}

}  // namespace bj
