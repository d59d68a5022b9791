#include "seal/carry_out.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <string>
#include <vector>

#include "sys/pipe.h"

namespace bj {
namespace {

// A plan written by hand, sound unless a test breaks it.
struct HandPlan {
  std::vector<Step> steps;
  std::string strings = std::string("\0/no/such/place\0", 16);

  static constexpr uint32_t kMissing = 1;

  void add(Op op, uint64_t number = 0, uint64_t number2 = 0, uint32_t text = 0, uint8_t optional = 0) {
    steps.push_back({op, Control::kNone, 0, optional, text, 0, number, number2});
  }
  PlanView view() const {
    return {steps.data(), static_cast<uint32_t>(steps.size()), strings.data(), static_cast<uint32_t>(strings.size())};
  }
};

CarryOut no_slots() {
  CarryOut state{};
  for (int& slot : state.slots) slot = -1;
  state.uid = 0;
  return state;
}

// Runs in a child, because a plan changes the process it is carried out in; true is the child's success.
bool in_child(const std::function<bool()>& work) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(work() ? 0 : 1);
  int status = -1;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

mode_t current_umask() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return mask;
}

// The first step would be seen: it is not carried out either.
void expect_refused(HandPlan plan) {
  plan.steps.insert(plan.steps.begin(), {Op::kUmask, Control::kNone, 0, 0, 0, 0, 0123, 0});
  EXPECT_TRUE(in_child([&plan] {
    CarryOut state = no_slots();
    const Failure failure = carry_out(plan.view(), state);
    return failure.step == 0 && failure.error == EBADMSG && current_umask() != 0123;
  }));
}

TEST(CarryOutTest, StepsAreDoneInOrder) {
  HandPlan plan;
  plan.add(Op::kUmask, 0111);
  plan.add(Op::kUmask, 0123);
  plan.add(Op::kRlimit, RLIMIT_CORE, 0);
  EXPECT_TRUE(in_child([&plan] {
    CarryOut state = no_slots();
    const Failure failure = carry_out(plan.view(), state);
    rlimit limit{};
    ::getrlimit(RLIMIT_CORE, &limit);
    return failure.step == -1 && current_umask() == 0123 && limit.rlim_cur == 0 && limit.rlim_max == 0;
  }));
}

TEST(CarryOutTest, TheFirstFailureStopsThePlanAndIsNamed) {
  HandPlan plan;
  plan.add(Op::kUmask, 0111);
  plan.add(Op::kChangeDirectory, 0, 0, HandPlan::kMissing);
  plan.add(Op::kUmask, 0123);
  EXPECT_TRUE(in_child([&plan] {
    CarryOut state = no_slots();
    const Failure failure = carry_out(plan.view(), state);
    return failure.step == 1 && failure.error == ENOENT && current_umask() == 0111;
  }));
}

TEST(CarryOutTest, AnOptionalStepMayBeRefused) {
  HandPlan plan;
  plan.add(Op::kChangeDirectory, 0, 0, HandPlan::kMissing, 1);
  plan.add(Op::kUmask, 0123);
  EXPECT_TRUE(in_child([&plan] {
    CarryOut state = no_slots();
    return carry_out(plan.view(), state).step == -1 && current_umask() == 0123;
  }));
}

TEST(CarryOutTest, TheChildsOwnUidStandsWhereThePlanLeavesItOpen) {
  HandPlan plan;
  plan.add(Op::kUmask, kOwnUid);
  EXPECT_TRUE(in_child([&plan] {
    CarryOut state = no_slots();
    state.uid = 0124;
    return carry_out(plan.view(), state).step == -1 && current_umask() == 0124;
  }));
}

TEST(CarryOutTest, ADescriptorIsPlacedAndTheOthersAreClosed) {
  HandPlan plan;
  plan.add(Op::kPlaceFd, 3);
  plan.add(Op::kCloseFrom, 4);
  EXPECT_TRUE(in_child([&plan] {
    Pipe pipe = make_pipe().value();
    CarryOut state = no_slots();
    state.slots[0] = pipe.write.get();
    if (carry_out(plan.view(), state).step != -1) return false;
    bool alone = true;
    for (int fd = 4; fd < 128; ++fd) alone = alone && ::fcntl(fd, F_GETFD) < 0;
    return alone && ::fcntl(3, F_GETFD) == 0;
  }));
}

TEST(CarryOutTest, AnUnknownOperationFails) {
  HandPlan plan;
  plan.add(static_cast<Op>(200));
  EXPECT_TRUE(in_child([&plan] {
    CarryOut state = no_slots();
    const Failure failure = carry_out(plan.view(), state);
    return failure.step == 0 && failure.error == EBADMSG;
  }));
}

TEST(CarryOutTest, APlanThatPointsBeyondItsStringsIsRefusedWhole) {
  for (const uint32_t offset : {16u, 17u, ~0u}) {
    HandPlan text, more;
    text.add(Op::kHostname);
    text.steps[0].text = offset;
    expect_refused(text);
    more.add(Op::kBind);
    more.steps[0].more = offset;
    expect_refused(more);
  }
}

TEST(CarryOutTest, ASlotThatDoesNotExistIsRefused) {
  HandPlan plan;
  plan.add(Op::kAttach);
  plan.steps[0].slot = kMaxSlots;
  expect_refused(plan);
}

TEST(CarryOutTest, StringsThatDoNotEndAreRefused) {
  HandPlan plan;
  plan.strings.back() = 'x';
  expect_refused(plan);
  plan.strings.clear();
  expect_refused(plan);
}

TEST(CarryOutTest, ASeccompProgramThatReachesBeyondTheStringsIsRefused) {
  for (const uint64_t instructions : {uint64_t{3}, uint64_t{4097}, uint64_t{1} << 61, ~uint64_t{0} - 1}) {
    HandPlan plan;
    plan.add(Op::kSeccomp, instructions);
    expect_refused(plan);
  }
}

TEST(CarryOutTest, TooManyStepsAndTooManyStringsAreRefused) {
  HandPlan steps;
  for (uint32_t i = 0; i < kMaxSteps; ++i) steps.add(Op::kUmask, 0111);
  expect_refused(steps);
  HandPlan strings;
  strings.strings.resize(kMaxStrings + 1);
  expect_refused(strings);
}

}  // namespace
}  // namespace bj
