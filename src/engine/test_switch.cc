#include "engine/test_switch.h"

#ifdef BELLJAR_TEST_SWITCHES

#include <sched.h>

namespace bj {

void apply_switch(Control control, Plan& plan, uint64_t& clone_flags, bool& own_network) {
  remove_control(plan, control);
  switch (control) {
    case Control::kUserNs: clone_flags &= ~static_cast<uint64_t>(CLONE_NEWUSER); break;
    case Control::kPidNs: clone_flags &= ~static_cast<uint64_t>(CLONE_NEWPID); break;
    case Control::kMountNs: clone_flags &= ~static_cast<uint64_t>(CLONE_NEWNS); break;
    case Control::kIpcNs: clone_flags &= ~static_cast<uint64_t>(CLONE_NEWIPC); break;
    case Control::kUtsNs: clone_flags &= ~static_cast<uint64_t>(CLONE_NEWUTS); break;
    case Control::kNetNs: own_network = false; break;
    default: break;
  }
}

void apply_switch(Control control, Plan& plan, LaunchRequest& request) {
  apply_switch(control, plan, request.clone_flags, request.own_network);
  if (control == Control::kIdmap) request.idmap_layers = false;
}

}  // namespace bj

#endif
