// The receipts of what happens at the gate of one call: which names and connections were denied or allowed by which
// rule, and each use of a credential, linked by the call's id.
//
// A program can cause any number of such events, and the chain must not grow with it: the first of each kind are
// written out, the rest is counted, and how many there were is the last receipt. Whoever follows the call's events live
// hears of the same ones. Stays on the server's thread.
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

  // `audit` must outlive it; `follower` may be empty.
  NetworkReceipts(AuditLog& audit, Actor actor, std::string call_id, Follower follower);

  void note(const GateEvent& event);
  // The call has ended: says how many events were not written out, if any.
  void finish() const;
  // For the call's own receipt: all bytes and how many of each kind, whatever was written out; besides the first places
  // that were reached.
  boost::json::object totals(const NetworkUse& use) const;

 private:
  static constexpr size_t kKinds = static_cast<size_t>(GateEvent::Kind::kEnded) + 1;

  Event receipt(EventKind kind, const char* action, const char* outcome) const;

  AuditLog& audit_;
  Actor actor_;
  std::string call_id_;
  Follower follower_;
  std::array<uint64_t, kKinds> seen_{};  // by GateEvent::Kind
  uint64_t bytes_sent_ = 0, bytes_received_ = 0;
};

}  // namespace bj
