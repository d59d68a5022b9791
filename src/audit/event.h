// What happened, who did it, to what, with what outcome: one receipt. The detail is small and holds names, numbers and
// ids. Values of secrets, arguments, results and output of tools never enter it.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/actor.h"
#include "store/audit_table.h"

namespace bj {

enum class EventKind {
  kCall,            // a tool ran
  kCommand,         // a command ran in a sandbox
  kFileWrite,       // a file was written through the API
  kPolicyDecision,  // something was allowed or refused by a rule
  kSecretUse,       // a credential was given on the way out
  kAdministration,  // keys, tools, agents, configurations, variables, secrets changed
  kServer,          // a server started or stopped
};
std::string_view kind_name(EventKind kind);

struct Event {
  EventKind kind = EventKind::kAdministration;
  std::string action;  // "tool.run", "key.create": constant words, the thing first
  Actor actor;
  std::string subject;  // the id of what it was done to; empty: nothing in particular
  std::string outcome = "success";
  std::string call_id;  // the call that caused it; empty: none
  boost::json::object detail;
  int64_t time = 0;  // microseconds since the epoch; 0: now
};

// A name that came from a request, as it may stand in a detail: not longer than a name should be.
std::string short_name(std::string_view text);

// The event as it is stored, with an id, not yet in the chain. Texts are made storable (UTF-8, no NUL) and short; a
// detail that is too large is left out, and says so: an event is never refused for what is in it.
AuditRow row_of(const Event& event, int64_t now);

}  // namespace bj
