// The receipts of what happens at the gate of one call, or of one sandbox that lives: which names and connections were
// denied or allowed by which rule, and each use of a credential, linked by its id. A call's own receipt tells the
// bytes; a sandbox that lives has none, so there the end of each connection is a receipt, too.
//
// A program can cause any number of such events, and the chain must not grow with it: the first of each kind are
// written out (of a sandbox that lives, in each minute in which something happens), the rest is counted, and how many
// there were is a receipt. Whoever follows the call's events live hears of the same ones. Stays on the server's thread.
#pragma once

#include <array>
#include <boost/json/object.hpp>
#include <functional>
#include <string>

#include "audit/audit_log.h"
#include "base/actor.h"
#include "egress/gate_event.h"
#include "egress/network_use.h"

namespace bj {

// {"event": "denied", "host", "port", "address"?, "credential"?, "decision"?}, for receipts and for streams.
boost::json::object gate_event_json(const GateEvent& event);

class NetworkReceipts {
 public:
  static constexpr uint64_t kMostOfEach = 32;
  using Follower = std::function<void(const GateEvent& event)>;

  using MicrosecondClock = std::function<int64_t()>;

  // `audit` must outlive it; `follower` may be empty; `clock` is there for a sandbox that lives, and empty for a call.
  NetworkReceipts(AuditLog& audit, Actor actor, std::string call_id, Follower follower, MicrosecondClock clock = {});

  void note(const GateEvent& event);
  // It has ended: says how many events were not written out, if any.
  void finish();
  // For the call's own receipt: all bytes and how many of each kind, whatever was written out; besides the first places
  // that were reached.
  boost::json::object totals(const NetworkUse& use) const;

 private:
  static constexpr size_t kKinds = static_cast<size_t>(GateEvent::Kind::kEnded) + 1;

  Event receipt(EventKind kind, const char* action, const char* outcome) const;
  void count_the_rest();

  AuditLog& audit_;
  Actor actor_;
  std::string call_id_;
  Follower follower_;
  MicrosecondClock clock_;
  int64_t minute_begin_ = 0;
  std::array<uint64_t, kKinds> seen_{};  // by GateEvent::Kind
  uint64_t bytes_sent_ = 0, bytes_received_ = 0;
  uint64_t more_sent_ = 0, more_received_ = 0;  // of ends that were not written out
};

}  // namespace bj
