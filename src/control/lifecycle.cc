#include "control/lifecycle.h"

#include <array>

namespace bj {
namespace {

constexpr std::array<std::string_view, 7> kStates = {"creating", "running", "paused", "stopping",
                                                     "stopped",  "deleted", "error"};
constexpr std::array<std::string_view, 9> kEvents = {"started", "failed", "pause", "resume",  "stop",
                                                     "ended",   "delete", "start", "rollback"};

}  // namespace

std::string_view state_name(SandboxState state) { return kStates[static_cast<size_t>(state)]; }

std::optional<SandboxState> state_of(std::string_view name) {
  for (size_t i = 0; i < kStates.size(); ++i) {
    if (kStates[i] == name) return static_cast<SandboxState>(i);
  }
  return std::nullopt;
}

std::string_view event_name(LifeEvent event) { return kEvents[static_cast<size_t>(event)]; }

bool is_live(SandboxState state) {
  return state == SandboxState::kCreating || state == SandboxState::kRunning || state == SandboxState::kPaused ||
         state == SandboxState::kStopping;
}

Result<SandboxState> after(SandboxState state, LifeEvent event) {
  using S = SandboxState;
  switch (event) {
    case LifeEvent::kStarted:
      if (state == S::kCreating) return S::kRunning;
      break;
    case LifeEvent::kFailed:
      if (state == S::kCreating) return S::kError;
      break;
    case LifeEvent::kPause:
      if (state == S::kRunning) return S::kPaused;
      if (state == S::kPaused) return fail(Code::kConflict, "the sandbox is paused already");
      break;
    case LifeEvent::kResume:
      if (state == S::kPaused) return S::kRunning;
      if (state == S::kRunning) return fail(Code::kConflict, "the sandbox is running already");
      break;
    case LifeEvent::kStop:
      if (state == S::kCreating || state == S::kRunning || state == S::kPaused) return S::kStopping;
      break;
    case LifeEvent::kEnded:
      if (is_live(state)) return S::kStopped;
      break;
    case LifeEvent::kDelete:
      if (state == S::kStopped || state == S::kError) return S::kDeleted;
      break;
    case LifeEvent::kStart:
      if (state == S::kStopped) return S::kCreating;
      break;
    case LifeEvent::kRollback:
      if (state == S::kRunning || state == S::kPaused || state == S::kStopped) return S::kCreating;
      break;
  }
  return fail(Code::kConflict, "the sandbox is " + std::string(state_name(state)) + ": that can't be done to it now");
}

}  // namespace bj
