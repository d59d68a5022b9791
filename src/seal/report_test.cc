#include "seal/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>

namespace bj {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAre;

const std::vector<Control> kJoins = {Control::kMemory, Control::kCpu, Control::kPids, Control::kIo};

Abilities with_landlock() {
  Abilities abilities;
  abilities.landlock_abi = 6;
  return abilities;
}

SandboxPolicy some_policy() {
  SandboxPolicy policy;
  policy.layer_targets = {"/"};
  return policy;
}

SealFacts sandbox_facts(const Plan& plan) {
  return {
      .plan = &plan, .clone_flags = sandbox_clone_flags(), .own_network = true, .idmapped = true, .unavailable = {}};
}

std::vector<std::string> not_on(const Seal& seal) {
  std::vector<std::string> names;
  for (size_t i = 1; i < static_cast<size_t>(Control::kCount); ++i) {
    if (seal.at(static_cast<Control>(i)).state != ControlState::kOn) names.emplace_back(kControlNames[i]);
  }
  return names;
}

Plan without(Plan plan, Control control) {
  std::erase_if(plan.steps, [control](const Step& step) { return step.control == control; });
  return plan;
}

TEST(ReportTest, ASandboxThatHasEverythingHasAFullSeal) {
  const Plan plan = sandbox_plan(some_policy(), with_landlock(), kJoins);
  const Seal seal = report_seal(sandbox_facts(plan));
  EXPECT_TRUE(seal.full()) << seal.missing();
  EXPECT_EQ(seal.missing(), "");
}

TEST(ReportTest, ACallLeavesToItsZygoteOnlyWhatTheZygotesSandboxHas) {
  const Plan plan = call_plan(some_policy(), with_landlock(), kJoins);
  const SealFacts facts{.plan = &plan,
                        .clone_flags = call_clone_flags(),
                        .own_network = true,
                        .idmapped = true,
                        .calls = true,
                        .unavailable = {}};
  EXPECT_THAT(not_on(report_seal(facts)), UnorderedElementsAre("userns", "root", "readonly", "dev", "proc"));
}

TEST(ReportTest, AControlWithoutItsStepsIsOff) {
  const Plan whole = sandbox_plan(some_policy(), with_landlock(), kJoins);
  for (const Control control :
       {Control::kCgroupNs, Control::kRoot, Control::kProc, Control::kDev, Control::kCaps, Control::kNoNewPrivs,
        Control::kSeccomp, Control::kLandlock, Control::kRlimits, Control::kMemory, Control::kCpu, Control::kPids,
        Control::kIo, Control::kDisk, Control::kFds, Control::kSession}) {
    const Plan plan = without(whole, control);
    const Seal seal = report_seal(sandbox_facts(plan));
    EXPECT_EQ(seal.at(control).state, ControlState::kOff) << name_of(control);
    EXPECT_THAT(not_on(seal), UnorderedElementsAre(std::string(name_of(control))));
  }
}

TEST(ReportTest, ANamespaceThatTheCloneDidNotMakeIsOff) {
  const Plan plan = sandbox_plan(some_policy(), with_landlock(), kJoins);
  const std::vector<std::pair<Control, uint64_t>> namespaces = {{Control::kUserNs, CLONE_NEWUSER},
                                                                {Control::kPidNs, CLONE_NEWPID},
                                                                {Control::kMountNs, CLONE_NEWNS},
                                                                {Control::kIpcNs, CLONE_NEWIPC}};
  for (const auto& [control, flag] : namespaces) {
    SealFacts facts = sandbox_facts(plan);
    facts.clone_flags &= ~flag;
    EXPECT_EQ(report_seal(facts).at(control).state, ControlState::kOff) << name_of(control);
  }
}

// Namespaces are made by the clone; a step inside one, such as setting the host name, doesn't make it.
TEST(ReportTest, AnUtsNamespaceThatTheCloneDidNotMakeIsOff) {
  const Plan plan = sandbox_plan(some_policy(), with_landlock(), kJoins);
  SealFacts facts = sandbox_facts(plan);
  facts.clone_flags &= ~static_cast<uint64_t>(CLONE_NEWUTS);
  EXPECT_EQ(report_seal(facts).at(Control::kUtsNs).state, ControlState::kOff);
}

TEST(ReportTest, NetworkAndIdmapAreWhatTheLauncherWasAskedFor) {
  const Plan plan = sandbox_plan(some_policy(), with_landlock(), kJoins);
  SealFacts facts = sandbox_facts(plan);
  facts.own_network = false;
  facts.idmapped = false;
  EXPECT_THAT(not_on(report_seal(facts)), UnorderedElementsAre("netns", "idmap"));
}

TEST(ReportTest, WhatTheMachineLacksIsUnavailableWithTheReason) {
  const Plan plan = sandbox_plan(some_policy(), {}, {Control::kCpu, Control::kPids, Control::kIo});
  SealFacts facts = sandbox_facts(plan);
  facts.unavailable = {{Control::kLandlock, "not in this kernel"}, {Control::kMemory, "no hierarchy"}};
  const Seal seal = report_seal(facts);
  EXPECT_EQ(seal.at(Control::kLandlock).state, ControlState::kUnavailable);
  EXPECT_EQ(seal.at(Control::kLandlock).detail, "not in this kernel");
  EXPECT_FALSE(seal.full());
  EXPECT_EQ(seal.missing(), "landlock (unavailable: not in this kernel), memory (unavailable: no hierarchy)");
}

TEST(ReportTest, AControlThatIsThereIsOnEvenWhereTheMachineWasSaidToLackIt) {
  const Plan plan = sandbox_plan(some_policy(), with_landlock(), kJoins);
  SealFacts facts = sandbox_facts(plan);
  facts.unavailable = {{Control::kMemory, "no hierarchy"}};
  EXPECT_EQ(report_seal(facts).at(Control::kMemory).state, ControlState::kOn);
}

TEST(ReportTest, ASingleIdIsNoUidRange) {
  SandboxPolicy policy = some_policy();
  policy.ids = {.kind = IdMap::Kind::kSingle, .inside = 1000, .outside = 1000, .count = 1};
  const Plan plan = sandbox_plan(policy, with_landlock(), kJoins);
  SealFacts facts = sandbox_facts(plan);
  facts.ids = IdMap::Kind::kSingle;
  facts.unavailable = {{Control::kUid, "needs root"}};
  EXPECT_EQ(report_seal(facts).at(Control::kUid).state, ControlState::kUnavailable);
}

TEST(ReportTest, AnEmptySealHasNothingOn) {
  const Seal seal;
  EXPECT_FALSE(seal.full());
  EXPECT_THAT(seal.missing(), HasSubstr("userns (off), pidns (off)"));
}

TEST(ReportTest, EveryControlHasANameOfItsOwn) {
  std::vector<std::string_view> names(kControlNames.begin(), kControlNames.end());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  EXPECT_EQ(name_of(Control::kEnvironment), "environment");
  EXPECT_EQ(name_of(Control::kSeccomp), "seccomp");
}

}  // namespace
}  // namespace bj
