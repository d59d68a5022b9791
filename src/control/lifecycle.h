// The life of a sandbox as a table: which state follows which, by what. Pure; everybody who changes a state asks here.
//
//   creating ──started──▶ running ◀──resume/pause──▶ paused
//      │ failed              │ stop                     │ stop
//      ▼                     ▼                          ▼
//    error                stopping ──ended──▶ stopped       (ended, from any living state: it died, or its files
//      └───────────────────── delete ──────────▶ deleted ◀── delete                  were kept and then it ended)
//
//   stopped ──start──▶ creating            running, paused, stopped ──rollback──▶ creating
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace bj {

enum class SandboxState { kCreating, kRunning, kPaused, kStopping, kStopped, kDeleted, kError };
enum class LifeEvent { kStarted, kFailed, kPause, kResume, kStop, kEnded, kDelete, kStart, kRollback };

std::string_view state_name(SandboxState state);
std::optional<SandboxState> state_of(std::string_view name);
std::string_view event_name(LifeEvent event);

// It holds processes, memory, a place in the quota.
bool is_live(SandboxState state);

// kConflict, with a sentence for the caller, if that can't happen in this state.
Result<SandboxState> after(SandboxState state, LifeEvent event);

}  // namespace bj
