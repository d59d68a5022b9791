#include "selftest/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

namespace bj::selftest {
namespace {

using testing::HasSubstr;

constexpr int exited(int status) { return status << 8; }

Attack plain() {
  Attack attack;
  attack.name = "07_x";
  return attack;
}

CallResult returned(const char* text) {
  CallResult result;
  result.status = CallStatus::kOk;
  result.value = text;
  return result;
}

ProgramEnd ended(const std::string& output, int status) {
  ProgramEnd end;
  end.output = output;
  end.status = status;
  return end;
}

TEST(VerdictTest, ACallIsJudgedByItsValue) {
  EXPECT_EQ(judge_call(plain(), returned("HELD: why")).outcome, Outcome::kHeld);
  EXPECT_EQ(judge_call(plain(), returned("ESCAPED: what")).outcome, Outcome::kEscaped);
  EXPECT_EQ(judge_call(plain(), returned("BROKEN: why")).outcome, Outcome::kBroken);
  EXPECT_EQ(judge_call(plain(), returned("nothing of the kind")).outcome, Outcome::kBroken);
}

TEST(VerdictTest, ACallThatFailedProvesNothing) {
  CallResult result;
  result.status = CallStatus::kError;
  result.error.name = "ValueError";
  const Verdict verdict = judge_call(plain(), result);
  EXPECT_EQ(verdict.outcome, Outcome::kBroken);
  EXPECT_THAT(verdict.detail, HasSubstr("ValueError"));
}

TEST(VerdictTest, ForgedAnswersMustBeRefused) {
  Attack attack = plain();
  attack.answer_refused = true;
  EXPECT_EQ(judge_call(attack, returned("HELD: says the forger")).outcome, Outcome::kEscaped);
  CallResult result;
  result.status = CallStatus::kError;
  EXPECT_EQ(judge_call(attack, result).outcome, Outcome::kHeld);
  result.error.message = "the call's process could not be sealed: says the tool";
  EXPECT_EQ(judge_call(attack, result).outcome, Outcome::kEscaped);
}

TEST(VerdictTest, AProgramIsJudgedByItsLastLineAndItsStatus) {
  EXPECT_EQ(judge_program(plain(), ended("noise\nHELD: why\n", exited(0))).outcome, Outcome::kHeld);
  EXPECT_EQ(judge_program(plain(), ended("HELD: first\nESCAPED: what\n", exited(42))).outcome, Outcome::kEscaped);
  EXPECT_EQ(judge_program(plain(), ended("HELD: why\n", exited(1))).outcome, Outcome::kBroken);
  EXPECT_EQ(judge_program(plain(), ended("HELD: why\n", SIGKILL)).outcome, Outcome::kBroken);
  EXPECT_EQ(judge_program(plain(), ended("", exited(0))).outcome, Outcome::kBroken);
}

TEST(VerdictTest, DeathByTheFilterIsHeld) {
  EXPECT_EQ(judge_program(plain(), ended("", SIGSYS)).outcome, Outcome::kHeld);
}

TEST(VerdictTest, ALimitMustBeReported) {
  Attack attack = plain();
  attack.killed_by = "wall time";
  ProgramEnd end = ended("", SIGKILL);
  EXPECT_EQ(judge_program(attack, end).outcome, Outcome::kEscaped);
  end.limits_hit = {"wall time"};
  EXPECT_EQ(judge_program(attack, end).outcome, Outcome::kHeld);
  EXPECT_EQ(judge_program(attack, ended("ESCAPED: six seconds\n", exited(42))).outcome, Outcome::kEscaped);
  EXPECT_EQ(judge_program(attack, ended("HELD: it says\n", exited(0))).outcome, Outcome::kEscaped);
}

TEST(VerdictTest, ALimitThatIsFeltInsideMayBeTold) {
  Attack attack = plain();
  attack.killed_by = "disk";
  EXPECT_EQ(judge_program(attack, ended("HELD: no space\n", exited(0))).outcome, Outcome::kHeld);
  EXPECT_EQ(judge_program(attack, ended("", SIGKILL)).outcome, Outcome::kEscaped);
}

TEST(VerdictTest, MoreOutputThanAllowedIsAnEscape) {
  Attack attack = plain();
  attack.limits.output_bytes = 4;
  EXPECT_EQ(judge_program(attack, ended("HELD: why\n", exited(0))).outcome, Outcome::kEscaped);
}

TEST(VerdictTest, EqualValuesAreAnEscape) {
  const Verdict one{Outcome::kHeld, "1"}, two{Outcome::kHeld, "2"};
  EXPECT_EQ(judge_difference(one, two).outcome, Outcome::kHeld);
  EXPECT_EQ(judge_difference(one, one).outcome, Outcome::kEscaped);
  EXPECT_EQ(judge_difference({Outcome::kBroken, "1"}, one).outcome, Outcome::kBroken);
}

TEST(VerdictTest, WhatAnAttackSaysCannotMoveTheTerminal) {
  EXPECT_EQ(printable("a\x1b[2J\nb\xff"), "a?[2J b?");
  EXPECT_EQ(printable(std::string(300, 'x')).size(), 203u);
}

TEST(VerdictTest, ACredentialInWhatAnAttackSaysIsAnEscape) {
  ProgramEnd end;
  end.status = 0;
  end.output = std::string("found: ") + kCredentialSecret + "\nHELD: nothing\n";
  EXPECT_EQ(judge_program(Attack(), end).outcome, Outcome::kEscaped);
  CallResult result;
  result.status = CallStatus::kOk;
  result.value = std::string("HELD: ") + kCredentialSecret;
  EXPECT_EQ(judge_call(Attack(), result).outcome, Outcome::kEscaped);
}

}  // namespace
}  // namespace bj::selftest
