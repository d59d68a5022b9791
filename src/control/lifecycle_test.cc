#include "control/lifecycle.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace bj {
namespace {

using S = SandboxState;
using E = LifeEvent;

const std::vector<S> kAllStates = {S::kCreating, S::kRunning, S::kPaused, S::kStopping,
                                   S::kStopped,  S::kDeleted, S::kError};
const std::vector<E> kAllEvents = {E::kStarted, E::kFailed, E::kPause, E::kResume,  E::kStop,
                                   E::kEnded,   E::kDelete, E::kStart, E::kRollback};

TEST(LifecycleTest, TheWholeTableIsAsDrawn) {
  const std::map<std::pair<S, E>, S> drawn = {
      {{S::kCreating, E::kStarted}, S::kRunning},  {{S::kCreating, E::kFailed}, S::kError},
      {{S::kCreating, E::kStop}, S::kStopping},    {{S::kCreating, E::kEnded}, S::kStopped},
      {{S::kRunning, E::kPause}, S::kPaused},      {{S::kRunning, E::kStop}, S::kStopping},
      {{S::kRunning, E::kEnded}, S::kStopped},     {{S::kPaused, E::kResume}, S::kRunning},
      {{S::kPaused, E::kStop}, S::kStopping},      {{S::kPaused, E::kEnded}, S::kStopped},
      {{S::kStopping, E::kEnded}, S::kStopped},    {{S::kStopped, E::kDelete}, S::kDeleted},
      {{S::kError, E::kDelete}, S::kDeleted},      {{S::kStopped, E::kStart}, S::kCreating},
      {{S::kRunning, E::kRollback}, S::kCreating}, {{S::kPaused, E::kRollback}, S::kCreating},
      {{S::kStopped, E::kRollback}, S::kCreating},
  };
  for (const S state : kAllStates) {
    for (const E event : kAllEvents) {
      const auto expected = drawn.find({state, event});
      const Result<S> next = after(state, event);
      SCOPED_TRACE(std::string(state_name(state)) + " + " + std::string(event_name(event)));
      ASSERT_EQ(next.has_value(), expected != drawn.end());
      if (next) {
        EXPECT_EQ(*next, expected->second);
      } else {
        EXPECT_EQ(next.error().code, Code::kConflict);
      }
    }
  }
}

TEST(LifecycleTest, NothingFollowsADeletion) {
  for (const E event : kAllEvents) EXPECT_FALSE(after(S::kDeleted, event));
}

TEST(LifecycleTest, NamesLeadBack) {
  for (const S state : kAllStates) EXPECT_EQ(state_of(state_name(state)), state);
  EXPECT_FALSE(state_of("flying"));
}

TEST(LifecycleTest, WhoTriesItTwiceIsToldThatItIsSo) {
  EXPECT_EQ(after(S::kPaused, E::kPause).error().what, "the sandbox is paused already");
  EXPECT_EQ(after(S::kRunning, E::kResume).error().what, "the sandbox is running already");
}

}  // namespace
}  // namespace bj
