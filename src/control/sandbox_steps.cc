#include "control/sandbox_steps.h"

#include <boost/json/parse.hpp>

namespace bj {

SandboxState state_in(const SandboxRow& row) { return state_of(row.state).value_or(SandboxState::kError); }

Result<void> step(SandboxRow& row, LifeEvent event, const std::string& reason, int64_t now) {
  BJ_TRY(const SandboxState next, after(state_in(row), event));
  row.state = state_name(next);
  row.reason = reason;
  if (is_live(next)) {
    row.ended_at.reset();
  } else if (!row.ended_at) {
    row.ended_at = now;
  }
  return {};
}

boost::json::object object_of(const std::string& text) {
  boost::json::error_code bad;
  boost::json::value value = boost::json::parse(text, bad);
  return bad || !value.is_object() ? boost::json::object() : std::move(value.get_object());
}

// One that is to be paused then is paused by the server that comes back: nothing of it must be lost.
int64_t end_without_server(const SandboxRow& row) {
  return state_in(row) == SandboxState::kRunning && row.on_timeout == "kill" ? row.end_at : 0;
}

Actor owner_of(const SandboxRow& row) {
  Actor actor;
  actor.organization = row.organization;
  actor.user = row.user.value_or("");
  actor.key = row.key.value_or("");
  actor.role = Role::kMember;
  return actor;
}

}  // namespace bj
