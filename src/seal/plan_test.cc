#include "seal/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/mount.h>
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <optional>

#include "seal/landlock.h"
#include "seal/seccomp.h"

namespace bj {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::Gt;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Lt;
using testing::StartsWith;

const std::vector<Control> kJoins = {Control::kMemory, Control::kCpu, Control::kPids, Control::kIo};

Abilities all_abilities() {
  Abilities abilities;
  abilities.root = true;
  for (Ability* one : {&abilities.user_namespaces, &abilities.idmapped_mounts, &abilities.overlay,
                       &abilities.proc_subset, &abilities.seccomp, &abilities.landlock}) {
    one->available = true;
  }
  abilities.landlock_abi = 6;
  return abilities;
}

SandboxPolicy some_policy() {
  SandboxPolicy policy;
  policy.layer_targets = {"/", "/usr"};
  policy.extra_targets = {"/data"};
  return policy;
}

Plan some_sandbox() { return sandbox_plan(some_policy(), all_abilities(), kJoins); }
Plan some_call() { return call_plan(some_policy(), all_abilities(), kJoins); }

// The indices of all steps with this operation, in order.
std::vector<size_t> all(const Plan& plan, Op op) {
  std::vector<size_t> found;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    if (plan.steps[i].op == op) found.push_back(i);
  }
  return found;
}

// The index of the only step with this operation.
size_t only(const Plan& plan, Op op) {
  const auto found = all(plan, op);
  EXPECT_EQ(found.size(), 1u) << "operation " << static_cast<int>(op);
  return found.empty() ? 0 : found.front();
}

std::string text_of(const Plan& plan, const Step& step) { return plan.strings.c_str() + step.text; }
std::string more_of(const Plan& plan, const Step& step) { return plan.strings.c_str() + step.more; }

std::optional<uint64_t> rlimit(const Plan& plan, int resource) {
  for (const size_t i : all(plan, Op::kRlimit)) {
    if (plan.steps[i].number == static_cast<uint64_t>(resource)) return plan.steps[i].number2;
  }
  return std::nullopt;
}

size_t cgroup_namespace(const Plan& plan) {
  const size_t at = only(plan, Op::kUnshare);
  EXPECT_EQ(plan.steps[at].number, static_cast<uint64_t>(CLONE_NEWCGROUP));
  return at;
}

void expect_sound(const Plan& plan) {
  const PlanView view = plan.view();
  ASSERT_LE(view.count, kMaxSteps);
  ASSERT_GT(view.strings_size, 0u);
  ASSERT_LE(view.strings_size, kMaxStrings);
  EXPECT_EQ(view.strings[view.strings_size - 1], 0);
  for (uint32_t i = 0; i < view.count; ++i) {
    const Step& step = view.steps[i];
    EXPECT_LT(step.slot, kMaxSlots) << i;
    EXPECT_LT(step.text, view.strings_size) << i;
    EXPECT_LT(step.more, view.strings_size) << i;
    if (step.op == Op::kSeccomp) {
      EXPECT_GT(step.number, 0u);
      EXPECT_LE(step.number, 4096u);
      EXPECT_LE(step.text + step.number * 8, view.strings_size);
    }
  }
}

TEST(PlanTest, ASandboxJoinsItsCgroupsBeforeItsCgroupNamespaceIsMade) {
  for (const Plan& plan : {some_sandbox(), some_call()}) {
    const auto joins = all(plan, Op::kWrite);
    EXPECT_EQ(joins.size(), kJoins.size());
    EXPECT_THAT(joins, Each(Lt(cgroup_namespace(plan))));
  }
}

TEST(PlanTest, NeighbouringLayersOfOneTargetAreOneOverlayInBothModesAndTheFirstIsOnTop) {
  for (const RootMode root : {RootMode::kWritable, RootMode::kTemplate}) {
    SandboxPolicy policy = some_policy();
    policy.root = root;
    policy.layer_targets = {"/", "/usr", "/usr"};
    const Plan plan = sandbox_plan(policy, all_abilities(), kJoins);
    std::vector<std::string> overlays, at_usr;
    for (const size_t i : all(plan, Op::kMount)) {
      if (text_of(plan, plan.steps[i]) == "overlay") overlays.push_back(more_of(plan, plan.steps[i]));
    }
    for (const size_t i : all(plan, Op::kAttach)) {
      const Step& step = plan.steps[i];
      if (text_of(plan, step) != "/new/usr") continue;
      EXPECT_EQ(step.slot, kSlotFree) << "a bare layer at /usr is one without its mask";
      at_usr.push_back(text_of(plan, step));
    }
    EXPECT_THAT(overlays, Contains(StartsWith("lowerdir=/l1:/l2,")));
    EXPECT_EQ(at_usr.size(), 1u);
  }
}

TEST(PlanTest, EachCgroupIsJoinedThroughItsOwnSlotForItsOwnControl) {
  const Plan plan = some_sandbox();
  const auto joins = all(plan, Op::kWrite);
  ASSERT_EQ(joins.size(), kJoins.size());
  for (size_t i = 0; i < joins.size(); ++i) {
    const Step& step = plan.steps[joins[i]];
    EXPECT_EQ(step.slot, kSlotCgroup + i);
    EXPECT_EQ(step.control, kJoins[i]);
    EXPECT_EQ(text_of(plan, step), "0");
  }
}

TEST(PlanTest, WhoIsBornInItsCgroupWritesNothingAndHasTheSameControlsAndANamespaceOfIt) {
  const Plan plan = sandbox_plan(some_policy(), all_abilities(), kJoins, Joining::kCloned);
  EXPECT_THAT(all(plan, Op::kWrite), IsEmpty());
  std::vector<Control> controls;
  for (const size_t i : all(plan, Op::kBorn)) controls.push_back(plan.steps[i].control);
  EXPECT_EQ(controls, kJoins);
  EXPECT_EQ(plan.steps[only(plan, Op::kUnshare)].control, Control::kCgroupNs);
}

TEST(PlanTest, WithoutCgroupsThereIsNoCgroupNamespaceAndMemoryIsLimitedByRlimit) {
  const Plan plan = sandbox_plan(some_policy(), all_abilities(), {});
  EXPECT_THAT(all(plan, Op::kUnshare), IsEmpty());
  EXPECT_EQ(rlimit(plan, RLIMIT_DATA), some_policy().limits.memory_bytes);
  EXPECT_FALSE(rlimit(some_sandbox(), RLIMIT_DATA));
}

TEST(PlanTest, TheRootIsEnteredAfterEverythingOfOursIsAttachedAndMasked) {
  const Plan plan = some_sandbox();
  const size_t pivot = only(plan, Op::kPivotRoot);
  for (const Op op : {Op::kAttach, Op::kMount, Op::kBind, Op::kSetAttributes}) {
    for (const size_t i : all(plan, op)) {
      if (plan.steps[i].slot != kSlotExtra) EXPECT_LT(i, pivot);
    }
  }
  EXPECT_EQ(text_of(plan, plan.steps[pivot]), "/new");
}

TEST(PlanTest, TheCallersOwnMountsComeInTheNewRootWhereNoLinkOfATemplateLeadsOut) {
  const Plan plan = some_sandbox();
  const size_t pivot = only(plan, Op::kPivotRoot);
  const size_t restricted = all(plan, Op::kNoNewPrivs).front();
  int attached = 0;
  for (const size_t i : all(plan, Op::kAttach)) {
    if (plan.steps[i].slot != kSlotExtra) continue;
    ++attached;
    EXPECT_EQ(text_of(plan, plan.steps[i]), "/data");
    EXPECT_GT(i, pivot);
    EXPECT_LT(i, restricted);
  }
  EXPECT_EQ(attached, 1);
}

TEST(PlanTest, EverythingElseThatASandboxAttachesLiesBelowTheNewRootOrInTheDen) {
  const Plan plan = some_sandbox();
  for (const size_t i : all(plan, Op::kAttach)) {
    if (plan.steps[i].slot == kSlotExtra) continue;
    EXPECT_THAT(text_of(plan, plan.steps[i]),
                testing::AnyOf(StartsWith("/new"), StartsWith("/l"), StartsWith("/scratch")));
  }
}

TEST(PlanTest, MountsArePrivateBeforeTheFirstOneIsMade) {
  const Plan plan = some_sandbox();
  const size_t private_mounts = only(plan, Op::kPrivateMounts);
  EXPECT_THAT(all(plan, Op::kMount), Each(Gt(private_mounts)));
  EXPECT_THAT(all(plan, Op::kAttach), Each(Gt(private_mounts)));
}

TEST(PlanTest, ProcIsMadeReadOnlyAfterItsMasksAreBound) {
  const Plan plan = some_sandbox();
  size_t last_mask = 0, read_only = 0;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    if (step.control != Control::kProc) continue;
    if (step.op == Op::kBind) last_mask = i;
    if (step.op == Op::kSetAttributes) read_only = i;
  }
  EXPECT_GT(last_mask, 0u);
  EXPECT_GT(read_only, last_mask);
  EXPECT_NE(plan.steps[read_only].number & MOUNT_ATTR_RDONLY, 0u);
}

TEST(PlanTest, NoNewPrivsComesBeforeLandlockAndLandlockBeforeSeccomp) {
  for (const Plan& plan : {some_sandbox(), some_call()}) {
    const size_t no_new_privs = only(plan, Op::kNoNewPrivs);
    const size_t create = only(plan, Op::kLandlockCreate);
    const size_t enforce = only(plan, Op::kLandlockEnforce);
    EXPECT_LT(no_new_privs, create);
    EXPECT_THAT(all(plan, Op::kLandlockAllow), Each(AllOf(Gt(create), Lt(enforce))));
    EXPECT_LT(enforce, only(plan, Op::kSeccomp));
  }
}

// What the launcher and a zygote keep may have taken every number below the limit.
TEST(PlanTest, OpenFilesAreLimitedWhenNothingMoreIsOpened) {
  for (const Plan& plan : {some_sandbox(), some_call()}) {
    const std::vector<size_t> limits = all(plan, Op::kRlimit);
    ASSERT_FALSE(limits.empty());
    for (const Op op : {Op::kLandlockCreate, Op::kLandlockAllow, Op::kMount, Op::kAttach, Op::kOpenNull})
      EXPECT_THAT(all(plan, op), Each(Lt(limits.front())));
  }
}

TEST(PlanTest, NothingOfASandboxFollowsSeccompButItsDescriptorsAndTheWarden) {
  const Plan plan = some_sandbox();
  for (size_t i = only(plan, Op::kSeccomp) + 1; i < plan.steps.size(); ++i) {
    EXPECT_THAT(plan.steps[i].op, testing::AnyOf(Op::kPlaceFd, Op::kCloseFrom, Op::kExec)) << i;
  }
}

TEST(PlanTest, ASandboxEndsByExecutingTheWardenWithOnlyItsSocketOpen) {
  const Plan plan = some_sandbox();
  ASSERT_EQ(plan.steps.back().op, Op::kExec);
  EXPECT_EQ(plan.steps.back().slot, kSlotProgram);
  const Step& close = plan.steps[only(plan, Op::kCloseFrom)];
  EXPECT_EQ(close.number, 4u);
  const Step& place = plan.steps[only(plan, Op::kPlaceFd)];
  EXPECT_EQ(place.slot, kSlotControl);
  EXPECT_EQ(place.number, 3u);
  EXPECT_LT(only(plan, Op::kPlaceFd), only(plan, Op::kCloseFrom));
}

TEST(PlanTest, ACallEndsWithSeccompAndExecutesNothing) {
  const Plan plan = some_call();
  EXPECT_EQ(plan.steps.back().op, Op::kSeccomp);
  EXPECT_THAT(all(plan, Op::kExec), IsEmpty());
}

TEST(PlanTest, ACallClosesWhatItInheritedAfterItsOwnDescriptorsArePlaced) {
  const Plan plan = some_call();
  const size_t close = only(plan, Op::kCloseFrom);
  EXPECT_EQ(plan.steps[close].number, 4u);
  EXPECT_EQ(plan.steps[close].number2, 0u);  // at once, not at exec: there is none
  EXPECT_THAT(all(plan, Op::kPlaceFd), Each(Lt(close)));
  EXPECT_LT(only(plan, Op::kLandlockEnforce), close);
}

TEST(PlanTest, ACallDropsItsCapabilitiesBeforeLandlock) {
  const Plan plan = some_call();
  const size_t caps = only(plan, Op::kSetCaps);
  EXPECT_EQ(plan.steps[caps].number, 0u);
  EXPECT_EQ(plan.steps[only(plan, Op::kDropBounding)].number, 0u);
  EXPECT_LT(only(plan, Op::kDropBounding), caps);
  EXPECT_LT(caps, only(plan, Op::kLandlockCreate));
}

TEST(PlanTest, ACallChangesItsUidBeforeItLosesTheCapabilityTo) {
  const Plan plan = some_call();
  const size_t ids = only(plan, Op::kSetIds);
  EXPECT_LT(ids, only(plan, Op::kSetCaps));
  EXPECT_EQ(plan.steps[ids].number, kOwnUid);
  EXPECT_EQ(plan.steps[ids].number2, kOwnUid);
}

TEST(PlanTest, ASandboxKeepsNoCapabilityThatItsPolicyDoesNotName) {
  const Plan plan = some_sandbox();
  EXPECT_EQ(plan.steps[only(plan, Op::kDropBounding)].number, kSandboxCaps);
  EXPECT_EQ(plan.steps[only(plan, Op::kSetCaps)].number, kSandboxCaps);
  constexpr int kNetAdmin = 12, kNetRaw = 13, kSysPtrace = 19, kSysAdmin = 21, kMknod = 27;
  for (const int capability : {kNetAdmin, kNetRaw, kSysPtrace, kSysAdmin, kMknod}) {
    EXPECT_EQ(kSandboxCaps & cap_bit(capability), 0u) << capability;
  }
}

TEST(PlanTest, AWritableSandboxOverlaysEachLayerAndNeverAttachesOneWritable) {
  const Plan plan = some_sandbox();
  for (size_t layer = 0; layer < some_policy().layer_targets.size(); ++layer) {
    for (const size_t i : all(plan, Op::kAttach)) {
      const Step& step = plan.steps[i];
      if (step.slot == kSlotLayer + layer) EXPECT_EQ(text_of(plan, step), "/l" + std::to_string(layer));
    }
  }
  int overlays = 0;
  for (const size_t i : all(plan, Op::kMount)) {
    if (text_of(plan, plan.steps[i]) != "overlay") continue;
    ++overlays;
    EXPECT_THAT(more_of(plan, plan.steps[i]), HasSubstr("userxattr"));
  }
  EXPECT_EQ(overlays, 3);  // and that of the runtimes
}

// Watching or locking a file that others have, too, tells what they do.
TEST(PlanTest, TheRuntimesThatAllSandboxesShareAreBehindAnOverlay) {
  const Plan plan = some_sandbox();
  std::vector<uint8_t> attached;
  for (const size_t i : all(plan, Op::kAttach)) {
    if (text_of(plan, plan.steps[i]) == "/new/opt/belljar") attached.push_back(plan.steps[i].slot);
  }
  EXPECT_THAT(attached, ElementsAre(kSlotFree));
}

// A zygote may mount, so what is only marked read-only it could change: the template's, the packages' and our own files
// come as overlays that have nothing to write to, with the mounts themselves outside its root.
TEST(PlanTest, AZygoteIsGivenNoMountThatItCouldMakeWritable) {
  SandboxPolicy policy = some_policy();
  policy.root = RootMode::kTemplate;
  policy.own_trust = true;
  const Plan plan = sandbox_plan(policy, all_abilities(), kJoins);
  std::vector<bool> is_overlay(kMaxSlots, false);
  std::vector<std::string> bare;
  for (const Step& step : plan.steps) {
    const std::string text = text_of(plan, step);
    if (step.op == Op::kMount) is_overlay[step.slot] = text == "overlay";
    if (step.op == Op::kAttach && !is_overlay[step.slot]) bare.push_back(text);
  }
  EXPECT_THAT(bare, ElementsAre("/scratch", "/l0", "/l1", "/scratch/x0", "/new/dev", "/new/dev/pts",
                                "/scratch/runtimes", "/new/proc"));
}

// Overlays lie on each other twice at most, and the layer may lie on one of the host's.
TEST(PlanTest, TrustedCertificatesAreAddedToTheLayerItself) {
  SandboxPolicy policy = some_policy();
  policy.root = RootMode::kTemplate;
  policy.own_trust = true;
  for (const bool alone : {true, false}) {
    if (!alone) policy.layer_targets.insert(policy.layer_targets.begin(), "/");
    const Plan plan = sandbox_plan(policy, all_abilities(), kJoins);
    std::vector<std::string> overlays;
    for (const size_t i : all(plan, Op::kMount)) overlays.push_back(more_of(plan, plan.steps[i]));
    EXPECT_THAT(overlays,
                Contains(StartsWith(alone ? "lowerdir=/l0/etc/ssl/certs,upper" : "lowerdir=/new/etc/ssl/certs,upper")));
  }
}

TEST(PlanTest, ATemplateRootIsReadOnlyAtEveryLayer) {
  SandboxPolicy policy = some_policy();
  policy.root = RootMode::kTemplate;
  const Plan plan = sandbox_plan(policy, all_abilities(), kJoins);
  size_t read_only = 0;
  for (const size_t i : all(plan, Op::kSetAttributes)) {
    const Step& step = plan.steps[i];
    if (step.control == Control::kReadOnly && (step.number & MOUNT_ATTR_RDONLY) != 0) ++read_only;
  }
  EXPECT_EQ(read_only, policy.layer_targets.size());
}

TEST(PlanTest, EveryNewMountIsNosuid) {
  for (const Plan& plan : {some_sandbox(), some_call()}) {
    for (const size_t i : all(plan, Op::kMount)) {
      EXPECT_NE(plan.steps[i].number & MOUNT_ATTR_NOSUID, 0u) << plan.describe({static_cast<int>(i), 0});
    }
  }
}

TEST(PlanTest, AllThatACallCanWriteIsOneTmpfsOfTheDiskLimit) {
  SandboxPolicy policy = some_policy();
  policy.limits.disk_bytes = 7 << 20;
  const Plan plan = call_plan(policy, all_abilities(), kJoins);
  int tmpfs = 0;
  for (const size_t i : all(plan, Op::kMount)) {
    if (text_of(plan, plan.steps[i]) != "tmpfs") continue;
    ++tmpfs;
    EXPECT_THAT(more_of(plan, plan.steps[i]), AllOf(HasSubstr("size=7340032"), HasSubstr("nr_inodes=1024")));
  }
  EXPECT_EQ(tmpfs, 1);
}

TEST(PlanTest, OnlyTheMasksOfProcMayBeRefusedByTheKernel) {
  for (const Plan& plan : {some_sandbox(), some_call()}) {
    for (const Step& step : plan.steps) {
      if (step.optional == 0) continue;
      EXPECT_EQ(step.op, Op::kBind);
      EXPECT_EQ(step.control, Control::kProc);
      EXPECT_THAT(text_of(plan, step), AnyOf("/new/dev/null", "/scratch/nothing"));
    }
  }
}

// The host's locks tell which user ids other sandboxes have.
TEST(PlanTest, WhatProcTellsOfOthersIsHidden) {
  std::vector<std::string> hidden;
  const Plan plan = some_sandbox();
  for (const size_t i : all(plan, Op::kBind)) hidden.push_back(more_of(plan, plan.steps[i]));
  for (const char* path : {"/new/proc/keys", "/new/proc/locks", "/new/proc/fs", "/new/proc/bus"}) {
    EXPECT_THAT(hidden, testing::Contains(path));
  }
}

// A machine has some thousand for all sandboxes together.
TEST(PlanTest, TerminalsAreOnesOwnAndHaveABound) {
  for (const Plan& plan : {some_sandbox(), some_call()}) {
    std::vector<std::string> terminals;
    for (const size_t i : all(plan, Op::kMount)) {
      if (text_of(plan, plan.steps[i]) == "devpts") terminals.push_back(more_of(plan, plan.steps[i]));
    }
    EXPECT_THAT(terminals, testing::ElementsAre(HasSubstr("max=")));
  }
}

TEST(PlanTest, TheWatchersOfASandboxAreBoundedBeforeProcIsReadOnly) {
  const Plan plan = some_sandbox();
  const size_t bound = only(plan, Op::kSetting);
  EXPECT_EQ(text_of(plan, plan.steps[bound]), "/new/proc/sys/user/max_inotify_instances");
  for (const size_t i : all(plan, Op::kSetAttributes)) {
    if (text_of(plan, plan.steps[i]) == "/new/proc") EXPECT_GT(i, bound);
  }
}

TEST(PlanTest, WithoutLandlockInTheKernelThereIsNoLandlockStep) {
  Abilities abilities = all_abilities();
  abilities.landlock_abi = 0;
  for (const Plan& plan :
       {sandbox_plan(some_policy(), abilities, kJoins), call_plan(some_policy(), abilities, kJoins)}) {
    for (const Step& step : plan.steps) EXPECT_NE(step.control, Control::kLandlock);
  }
}

TEST(PlanTest, LandlockAsksForNothingThatTheKernelsAbiDoesNotKnow) {
  for (int abi = 1; abi <= 6; ++abi) {
    Abilities abilities = all_abilities();
    abilities.landlock_abi = abi;
    const Plan plan = call_plan(some_policy(), abilities, kJoins);
    const Step& create = plan.steps[only(plan, Op::kLandlockCreate)];
    EXPECT_EQ(create.number, landlock_file_rights(abi));
    EXPECT_EQ(create.number2 != 0, abi >= 6);
    for (const size_t i : all(plan, Op::kLandlockAllow)) EXPECT_EQ(plan.steps[i].number & ~create.number, 0u) << abi;
  }
}

TEST(PlanTest, LandlockLetsACallReadItsRootAndWriteOnlyItsOwnPlaces) {
  const Plan plan = some_call();
  for (const size_t i : all(plan, Op::kLandlockAllow)) {
    const Step& step = plan.steps[i];
    if (text_of(plan, step) == "/") EXPECT_EQ(step.number, kLandlockRead);
    if ((step.number & kLandlockWriteFile) == 0) continue;
    EXPECT_THAT(text_of(plan, step), testing::AnyOf("/dev", "/tmp", "/home/user", "/dev/shm"));
  }
}

TEST(PlanTest, AZygoteIsNotConfinedByLandlockBecauseItMountsForItsChildren) {
  SandboxPolicy policy = some_policy();
  policy.syscalls = SyscallProfile::kZygote;
  policy.caps = kZygoteCaps;
  const Plan plan = sandbox_plan(policy, all_abilities(), kJoins);
  EXPECT_THAT(all(plan, Op::kLandlockCreate), IsEmpty());
  EXPECT_EQ(plan.steps[only(plan, Op::kSetCaps)].number, kZygoteCaps);
}

// It may clone, and in a user namespace of its own it would have every capability.
TEST(PlanTest, InAZygoteNoUserNamespaceCanBeMade) {
  const auto settings = [](SyscallProfile syscalls) {
    SandboxPolicy policy = some_policy();
    policy.syscalls = syscalls;
    const Plan plan = sandbox_plan(policy, all_abilities(), kJoins);
    std::vector<std::string> found;
    for (const size_t i : all(plan, Op::kSetting))
      found.push_back(text_of(plan, plan.steps[i]) + "=" + more_of(plan, plan.steps[i]));
    return found;
  };
  EXPECT_THAT(settings(SyscallProfile::kZygote), Contains("/new/proc/sys/user/max_user_namespaces=0"));
  EXPECT_THAT(settings(SyscallProfile::kTool), testing::SizeIs(1));
}

TEST(PlanTest, ACallLoadsItsOwnProfileWhateverItsPolicySays) {
  SandboxPolicy policy = some_policy();
  policy.syscalls = SyscallProfile::kZygote;
  const Plan plan = call_plan(policy, all_abilities(), kJoins);
  const Step& step = plan.steps[only(plan, Op::kSeccomp)];
  EXPECT_EQ(plan.strings.substr(step.text, step.number * 8), seccomp_program(SyscallProfile::kCall));
}

TEST(PlanTest, ThePlanCarriesTheWholeSeccompProgramAligned) {
  const Plan plan = some_sandbox();
  const Step& step = plan.steps[only(plan, Op::kSeccomp)];
  EXPECT_EQ(step.text % 8, 0u);
  EXPECT_EQ(plan.strings.substr(step.text, step.number * 8), seccomp_program(SyscallProfile::kTool));
}

TEST(PlanTest, AnUnprivilegedSandboxRunsAsItsOneIdAndHasNoCapabilitiesToSet) {
  SandboxPolicy policy = some_policy();
  policy.ids = {.kind = IdMap::Kind::kSingle, .inside = 1000, .outside = 1234, .count = 1};
  const Plan sandbox = sandbox_plan(policy, all_abilities(), {});
  const Step& ids = sandbox.steps[only(sandbox, Op::kSetIds)];
  EXPECT_EQ(ids.number, 1000u);
  EXPECT_EQ(ids.number2, 1000u);
  EXPECT_THAT(all(sandbox, Op::kSetCaps), IsEmpty());
  EXPECT_THAT(all(call_plan(policy, all_abilities(), {}), Op::kSetIds), IsEmpty());
}

TEST(PlanTest, APrivilegedSandboxStartsAsItsOwnRoot) {
  const Plan plan = some_sandbox();
  EXPECT_EQ(plan.steps[only(plan, Op::kSetIds)].number, 0u);
}

TEST(PlanTest, LimitsOfAProcessAreInThePlan) {
  SandboxPolicy policy = some_policy();
  policy.limits.open_files = 99;
  policy.limits.processes = 5;
  policy.limits.cpu_ms = 1001;
  policy.limits.disk_bytes = 4096;
  const Plan plan = call_plan(policy, all_abilities(), kJoins);
  EXPECT_EQ(rlimit(plan, RLIMIT_NOFILE), 99u);
  EXPECT_EQ(rlimit(plan, RLIMIT_CPU), 3u);  // whole seconds, rounded up, and one in which the engine can be first
  EXPECT_EQ(rlimit(plan, RLIMIT_FSIZE), 4096u + (1u << 20));
  EXPECT_EQ(rlimit(plan, RLIMIT_CORE), 1u);
  EXPECT_EQ(rlimit(plan, RLIMIT_MSGQUEUE), 0u);
  EXPECT_FALSE(rlimit(plan, RLIMIT_NPROC));  // the cgroup counts them
}

TEST(PlanTest, NoCpuLimitMeansNoCpuRlimit) { EXPECT_FALSE(rlimit(some_call(), RLIMIT_CPU)); }

TEST(PlanTest, ProcShowsOnlyProcessesWhereTheKernelCan) {
  const auto options = [](const Plan& plan) {
    for (const size_t i : all(plan, Op::kMount)) {
      if (text_of(plan, plan.steps[i]) == "proc") return more_of(plan, plan.steps[i]);
    }
    return std::string("no proc");
  };
  EXPECT_EQ(options(some_call()), "subset=pid");
  Abilities abilities = all_abilities();
  abilities.proc_subset.available = false;
  EXPECT_EQ(options(call_plan(some_policy(), abilities, kJoins)), "");
}

TEST(PlanTest, TheCloneMakesTheNamespacesThatThePlanDoesNot) {
  EXPECT_EQ(sandbox_clone_flags(),
            static_cast<uint64_t>(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS));
  EXPECT_EQ(call_clone_flags(), static_cast<uint64_t>(CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS));
}

TEST(PlanTest, EveryPlanPointsOnlyIntoItself) {
  expect_sound(some_sandbox());
  expect_sound(some_call());
  expect_sound(sandbox_plan({}, {}, {}));
  expect_sound(call_plan({}, {}, {}));
}

TEST(PlanTest, TheLargestPlanFitsTheBounds) {
  SandboxPolicy policy;
  policy.limits.cpu_ms = 1;
  for (int i = 0; i < kMaxLayers; ++i)
    policy.layer_targets.push_back("/" + std::string(200, static_cast<char>('a' + i)));
  for (int i = 0; i < kMaxExtraMounts; ++i) policy.extra_targets.push_back("/" + std::string(1000, 'x'));
  const std::vector<Control> joins(kMaxCgroups, Control::kMemory);
  expect_sound(sandbox_plan(policy, all_abilities(), joins));
}

TEST(PlanTest, SlotsOfOneKindDoNotReachIntoTheNext) {
  EXPECT_LE(kSlotCgroup + kMaxCgroups, kSlotLayer);
  EXPECT_LE(kSlotLayer + kMaxLayers, kSlotExtra);
  EXPECT_LE(kSlotExtra + kMaxExtraMounts, kSlotFree);
  EXPECT_LT(kSlotFree, kMaxSlots);
}

TEST(PlanTest, AFailureNamesItsStepWhatItWasAboutAndTheReason) {
  const Plan plan = some_sandbox();
  const auto pivot = static_cast<int32_t>(only(plan, Op::kPivotRoot));
  EXPECT_EQ(plan.describe({pivot, EPERM}),
            "step " + std::to_string(pivot) + " (pivot_root /new): Operation not permitted");
  const auto exec = static_cast<int32_t>(plan.steps.size() - 1);
  EXPECT_THAT(plan.describe({exec, ENOENT}), HasSubstr("(exec warden): No such file"));
  const auto seccomp = static_cast<int32_t>(only(plan, Op::kSeccomp));
  EXPECT_THAT(plan.describe({seccomp, EINVAL}), HasSubstr("(seccomp): Invalid argument"));
  const auto no_new_privs = static_cast<int32_t>(only(plan, Op::kNoNewPrivs));
  EXPECT_THAT(plan.describe({no_new_privs, EINVAL}), HasSubstr("(no_new_privs): "));
}

TEST(PlanTest, AFailureOutsideThePlanStillNamesTheReason) {
  const Plan plan = some_call();
  EXPECT_EQ(plan.describe({-1, EBADMSG}), "Bad message");
  EXPECT_EQ(plan.describe({100'000, EBADMSG}), "Bad message");
}

}  // namespace
}  // namespace bj
