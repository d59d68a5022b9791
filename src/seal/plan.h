// Policy -> plan: pure functions that turn what is allowed into an ordered list of steps and the seal that results.
// Nothing here touches the system, so both are tested without privilege.
#pragma once

#include <string>
#include <vector>

#include "seal/abilities.h"
#include "seal/carry_out.h"
#include "seal/policy.h"
#include "seal/seal.h"
#include "seal/step.h"

namespace bj {

struct Plan {
  std::vector<Step> steps;
  std::string strings = std::string(1, '\0');  // offset 0 is the empty string

  PlanView view() const;
  // "step 7 (pivot_root /new): Operation not permitted"
  std::string describe(const Failure& failure) const;
};

// How a process comes into its cgroups.
enum class Joining {
  kWriting,  // to the files in its cgroup slots
  kCloned,   // born in it, which version 2 can: writing waits there for a grace period of the kernel, 20 ms
};

// The sandbox's first process, from the launcher's clone to the warden. `joins`: the controls of its cgroup slots.
Plan sandbox_plan(const SandboxPolicy& policy, const Abilities& abilities, const std::vector<Control>& joins,
                  Joining joining = Joining::kWriting);

// A call's process, from the zygote's clone to the moment the tool's code may run.
Plan call_plan(const SandboxPolicy& policy, const Abilities& abilities, const std::vector<Control>& joins);

// Where the launcher's root has the mount point of a layer: short, because a list of them must fit into an option.
std::string layer_place(size_t index);

// What a sandbox with a writable root writes lies in one filesystem of its own, in a directory a target. A descriptor
// of that filesystem is the first thing that comes on the control socket, with this text: before the warden, and long
// before anything of the owner's runs.
inline constexpr const char* kScratchMessage = "scratch";
struct UpperPlace {
  std::string name;    // in that filesystem
  std::string target;  // in the sandbox
};
std::vector<UpperPlace> upper_places(const std::vector<std::string>& layer_targets);

// Namespaces that the clone itself makes.
uint64_t sandbox_clone_flags();
uint64_t call_clone_flags();

#ifdef BELLJAR_TEST_SWITCHES
// Takes every step of a control out. Test builds only: a release has no way to weaken a plan.
void remove_control(Plan& plan, Control control);
#endif

}  // namespace bj
