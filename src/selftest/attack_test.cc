#include "selftest/attack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "selftest/attack_files.h"

namespace bj::selftest {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

AttackFile file(const std::string& name, const std::string& header) {
  return {name, header + "#\n# story\n", "program of " + name};
}

const std::string kLeast = "# attack: a title\n# family: 7\n# runs: call root\n# stopped-by: caps uid\n";

TEST(AttackTest, AHeaderIsReadUpToItsFirstEmptyComment) {
  const auto attacks =
      parse_attacks({file("07_x.py", kLeast + "# limits: wall_ms=500 cpus=0.5\n# expect: killed-by pids\n")});
  ASSERT_TRUE(attacks);
  const Attack& attack = attacks->front();
  EXPECT_EQ(attack.name, "07_x");
  EXPECT_EQ(attack.title, "a title");
  EXPECT_EQ(attack.family, 7);
  EXPECT_THAT(attack.runs, ElementsAre(RunAs::kCall, RunAs::kRoot));
  EXPECT_THAT(attack.stopped_by, ElementsAre("caps", "uid"));
  EXPECT_EQ(attack.limits.wall_ms, 500u);
  EXPECT_EQ(attack.limits.cpus, 0.5);
  EXPECT_EQ(attack.killed_by, "processes");
  EXPECT_EQ(attack.program, "program of 07_x.py");
}

TEST(AttackTest, WhatIsStoppedByDesignNamesNoControl) {
  const auto attacks =
      parse_attacks({file("07_x.c", "// attack: t\n// family: 7\n// runs: exec\n// stopped-by: design\n")});
  ASSERT_TRUE(attacks);
  EXPECT_THAT(attacks->front().stopped_by, IsEmpty());
}

TEST(AttackTest, TwoHalvesBecomeOne) {
  const auto attacks = parse_attacks({file("07_x_find.py", kLeast + "# pair: find\n# pair-name: x\n"),
                                      file("07_x_leave.py", kLeast + "# pair: leave\n# pair-name: x\n")});
  ASSERT_TRUE(attacks);
  ASSERT_EQ(attacks->size(), 1u);
  EXPECT_EQ(attacks->front().name, "07_x");
  EXPECT_EQ(attacks->front().leave, "program of 07_x_leave.py");
  EXPECT_EQ(attacks->front().program, "program of 07_x_find.py");
}

TEST(AttackTest, AHeaderThatBreaksTheContractIsRefusedByName) {
  for (const std::string& header :
       {std::string("# attack: t\n"), kLeast + "# limits: speed=3\n", kLeast + "# expect: luck\n",
        kLeast + "# then: eat /x\n", std::string("# attack: t\n# family: 7\n# runs: walk\n# stopped-by: caps\n"),
        kLeast + "# pair: leave\n# pair-name: x\n"}) {
    const auto attacks = parse_attacks({file("07_odd.py", header)});
    ASSERT_FALSE(attacks) << header;
    EXPECT_THAT(attacks.error().what, HasSubstr("07_odd"));
  }
}

TEST(AttackTest, AFilterMatchesNamesAndControls) {
  const auto attacks = parse_attacks({file("07_x.py", kLeast), file("08_y.py", kLeast)});
  ASSERT_TRUE(attacks);
  EXPECT_EQ(filtered(*attacks, "08").size(), 1u);
  EXPECT_EQ(filtered(*attacks, "uid").size(), 2u);
  EXPECT_EQ(filtered(*attacks, "").size(), 2u);
  EXPECT_THAT(filtered(*attacks, "ui"), IsEmpty());
}

TEST(AttackTest, EveryEmbeddedAttackIsWellFormed) {
  const auto attacks = parse_attacks(embedded_attack_files());
  ASSERT_TRUE(attacks) << attacks.error().what;
  EXPECT_GT(attacks->size(), 100u);
}

TEST(AttackTest, CompiledAttacksAreEmbeddedAsPrograms) {
  for (const AttackFile& attack : embedded_attack_files()) {
    if (attack.name.ends_with(".c"))
      EXPECT_TRUE(
          attack.program.starts_with("\x7f"
                                     "ELF"))
          << attack.name;
  }
}

}  // namespace
}  // namespace bj::selftest
