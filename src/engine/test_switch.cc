#include "engine/test_switch.h"

#ifdef BELLJAR_TEST_SWITCHES

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <initializer_list>
#include <optional>

#include "launcher/gate_control.h"

namespace bj {
namespace {

constexpr uint64_t kSharedUid = 60'001;

std::optional<Control> control_called(std::string_view name) {
  const auto found = std::find(kControlNames.begin() + 1, kControlNames.end(), name);
  if (found == kControlNames.end()) return {};
  return static_cast<Control>(found - kControlNames.begin());
}

bool any_of(std::optional<Control> control, std::initializer_list<Control> list) {
  return control && std::find(list.begin(), list.end(), *control) != list.end();
}

void remove_op(Plan& plan, Op op) {
  std::erase_if(plan.steps, [op](const Step& step) { return step.op == op; });
}

// The tmpfs stays, its size goes: without one there would be nothing to write to.
void unlimit_disk(Plan& plan) {
  const auto options = static_cast<uint32_t>(plan.strings.size());
  plan.strings.append("mode=755").push_back('\0');
  for (Step& step : plan.steps) {
    if (step.control == Control::kDisk && step.op == Op::kMount) step.more = options;
  }
}

// Landlock and seccomp want no_new_privs or CAP_SYS_ADMIN, so capabilities go after them.
void remove_no_new_privs(Plan& plan) {
  remove_control(plan, Control::kNoNewPrivs);
  const auto is_caps = [](const Step& step) { return step.control == Control::kCaps; };
  std::vector<Step> caps;
  std::copy_if(plan.steps.begin(), plan.steps.end(), std::back_inserter(caps), is_caps);
  std::erase_if(plan.steps, is_caps);
  const auto filter =
      std::find_if(plan.steps.begin(), plan.steps.end(), [](const Step& s) { return s.op == Op::kSeccomp; });
  if (filter != plan.steps.end()) plan.steps.insert(filter + 1, caps.begin(), caps.end());
}

void share_uid(Plan& plan) {
  for (Step& step : plan.steps) {
    for (uint64_t* number : {&step.number, &step.number2}) {
      if (*number == kOwnUid) *number = kSharedUid;
    }
  }
}

void switch_off_in_plain_sandbox(Control control, Plan& plan, LaunchRequest& request) {
  switch (control) {
    case Control::kUserNs:
      request.clone_flags &= ~static_cast<uint64_t>(CLONE_NEWUSER);
      remove_op(plan, Op::kSetting);  // it would be one of the host's
      break;
    case Control::kUtsNs:
      request.clone_flags &= ~static_cast<uint64_t>(CLONE_NEWUTS);
      remove_op(plan, Op::kHostname);  // it would rename the host
      break;
    case Control::kNetNs: request.own_network = false; break;
    case Control::kIdmap: request.idmap_layers = false; break;
    case Control::kRoot:
      for (Step& step : plan.steps) {
        if (step.op == Op::kPivotRoot) step.op = Op::kChroot;
      }
      break;
    case Control::kNoNewPrivs: remove_no_new_privs(plan); break;
    case Control::kDisk: unlimit_disk(plan); break;
    // Without these there is no sandbox, or what is left is the host's: shown by calls, whose zygote has its own.
    case Control::kPidNs:
    case Control::kMountNs:
    case Control::kIpcNs: break;
    default: remove_control(plan, control); break;
  }
}

void switch_one_off(std::string_view what, SyscallProfile profile, Plan& plan, LaunchRequest& request) {
  if (what == "hostname") remove_op(plan, Op::kHostname);
  const std::optional<Control> control = control_called(what);
  if (!control) return;
  if (profile == SyscallProfile::kTool) {
    switch_off_in_plain_sandbox(*control, plan, request);
  } else if (any_of(control, {Control::kReadOnly, Control::kDev, Control::kCaps})) {
    remove_control(plan, *control);
  }
}

}  // namespace

void switch_off_in_sandbox(std::string_view names, SyscallProfile profile, Plan& plan, LaunchRequest& request) {
  for (const std::string_view what : switches_in(names)) switch_one_off(what, profile, plan, request);
}

void switch_off_in_call(std::string_view what, Plan& plan, uint64_t& clone_flags, bool& own_network) {
  const Control control = what == "reaper" ? Control::kPidNs : control_called(what).value_or(Control::kNone);
  switch (control) {
    case Control::kNone:
    case Control::kNoNewPrivs:  // the change of user takes the capabilities that would be needed instead
      return;
    case Control::kPidNs: clone_flags &= ~static_cast<uint64_t>(CLONE_NEWPID); break;
    case Control::kMountNs: clone_flags &= ~static_cast<uint64_t>(CLONE_NEWNS); break;
    case Control::kIpcNs: clone_flags &= ~static_cast<uint64_t>(CLONE_NEWIPC); break;
    case Control::kUtsNs: clone_flags &= ~static_cast<uint64_t>(CLONE_NEWUTS); break;
    case Control::kNetNs: own_network = false; break;
    case Control::kUid: return share_uid(plan);
    case Control::kDisk: return unlimit_disk(plan);
    default: break;
  }
  remove_control(plan, control);
}

void remove_masks(std::vector<TemplateLayer>& layers) {
  for (size_t i = 0; i + 1 < layers.size();) {
    if (layers[i].target == layers[i + 1].target) {
      layers.erase(layers.begin() + static_cast<ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

void add_own_environment(std::map<std::string, std::string>& environment) {
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const size_t equals = text.find('=');
    if (equals != std::string_view::npos) environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
}

std::string nonce_in(std::string_view answer) {
  boost::system::error_code error;
  const boost::json::value value = boost::json::parse(answer, error);
  if (error || !value.is_object()) return {};
  const boost::json::value* nonce = value.get_object().if_contains("nonce");
  return nonce != nullptr && nonce->is_string() ? std::string(nonce->get_string()) : std::string();
}

}  // namespace bj

#endif
