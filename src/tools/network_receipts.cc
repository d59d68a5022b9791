#include "tools/network_receipts.h"

#include <boost/json/array.hpp>

#include "egress/policy_json.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr size_t kMostHosts = 12;  // of a receipt, whose detail is bounded

constexpr int64_t kMinute_us = 60'000'000;

// How a kind of event is told. The end of a connection is told of sandboxes that live only.
struct Telling {
  EventKind kind = EventKind::kPolicyDecision;
  const char* action = nullptr;
  const char* outcome = "";
  const char* word = "";  // of streams and of the count
};

Telling telling_of(GateEvent::Kind kind) {
  switch (kind) {
    case GateEvent::Kind::kNameDenied: return {EventKind::kPolicyDecision, "network.resolve", "denied", "name_denied"};
    case GateEvent::Kind::kConnectionDenied:
      return {EventKind::kPolicyDecision, "network.connect", "denied", "connection_denied"};
    case GateEvent::Kind::kUpstreamFailed:
      return {EventKind::kPolicyDecision, "network.connect", "failed", "connection_failed"};
    case GateEvent::Kind::kConnected: return {EventKind::kPolicyDecision, "network.connect", "allowed", "connected"};
    case GateEvent::Kind::kSecretUsed: return {EventKind::kSecretUse, "secret.use", "success", "secret_used"};
    case GateEvent::Kind::kCapReached: return {EventKind::kPolicyDecision, "network.cap", "limited", "cap_reached"};
    case GateEvent::Kind::kEnded: break;
  }
  return {EventKind::kPolicyDecision, "network.end", "ended", "ended"};
}

}  // namespace

json::object gate_event_json(const GateEvent& event) {
  json::object object{{"event", telling_of(event.kind).word}, {"host", short_name(event.host)}};
  if (event.port != 0) object["port"] = event.port;
  if (!event.address.empty()) object["address"] = event.address;
  if (!event.credential.empty()) object["credential"] = event.credential;
  if (!event.cap.empty()) object["cap"] = event.cap;
  const bool undecided = event.kind == GateEvent::Kind::kUpstreamFailed || event.kind == GateEvent::Kind::kCapReached;
  if (undecided) {
    object["reason"] = short_name(event.decision.reason);
  } else if (event.kind == GateEvent::Kind::kEnded) {
    object["bytes_sent"] = event.bytes_sent;
    object["bytes_received"] = event.bytes_received;
  } else if (event.kind != GateEvent::Kind::kSecretUsed) {  // the connection's decision was told with it
    object["decision"] = to_json(event.decision);
  }
  return object;
}

NetworkReceipts::NetworkReceipts(AuditLog& audit, Actor actor, std::string call_id, Follower follower,
                                 MicrosecondClock clock)
    : audit_(audit),
      actor_(std::move(actor)),
      call_id_(std::move(call_id)),
      follower_(std::move(follower)),
      clock_(std::move(clock)) {}

Event NetworkReceipts::receipt(EventKind kind, const char* action, const char* outcome) const {
  Event event;
  event.kind = kind;
  event.action = action;
  event.outcome = outcome;
  event.actor = actor_;
  event.call_id = call_id_;
  return event;
}

void NetworkReceipts::note(const GateEvent& event) {
  if (clock_ && clock_() - minute_begin_ >= kMinute_us) {
    count_the_rest();
    minute_begin_ = clock_();
  }
  bytes_sent_ += event.bytes_sent;
  bytes_received_ += event.bytes_received;
  if (++seen_[static_cast<size_t>(event.kind)] > kMostOfEach) {
    more_sent_ += event.bytes_sent;
    more_received_ += event.bytes_received;
    return;
  }
  if (follower_) follower_(event);
  if (event.kind == GateEvent::Kind::kEnded && !clock_) return;
  const Telling telling = telling_of(event.kind);
  Event written = receipt(telling.kind, telling.action, telling.outcome);
  written.subject = event.kind == GateEvent::Kind::kSecretUsed ? event.credential : event.host;
  written.detail = gate_event_json(event);
  audit_.add(written);
}

json::object NetworkReceipts::totals(const NetworkUse& use) const {
  const auto count = [this](GateEvent::Kind kind) { return seen_[static_cast<size_t>(kind)]; };
  json::array hosts;
  for (const NetworkUse::Reached& reached : use.reached) {
    if (hosts.size() == kMostHosts) break;
    hosts.push_back({{"host", short_name(reached.host)},
                     {"port", reached.port},
                     {"bytes_sent", reached.bytes_sent},
                     {"bytes_received", reached.bytes_received}});
  }
  json::object totals{{"bytes_sent", bytes_sent_},
                      {"bytes_received", bytes_received_},
                      {"connections", count(GateEvent::Kind::kConnected)},
                      {"denied", count(GateEvent::Kind::kNameDenied) + count(GateEvent::Kind::kConnectionDenied)},
                      {"failed", count(GateEvent::Kind::kUpstreamFailed)},
                      {"hosts", std::move(hosts)}};
  if (use.reached.size() > kMostHosts) totals["more_hosts"] = use.reached.size() - kMostHosts;
  return totals;
}

void NetworkReceipts::count_the_rest() {
  json::object more;
  for (size_t i = 0; i < seen_.size(); ++i) {
    const auto kind = static_cast<GateEvent::Kind>(i);
    const uint64_t seen = seen_[i];
    if (clock_) seen_[i] = 0;  // a call's totals want it
    if (seen > kMostOfEach && (clock_ || kind != GateEvent::Kind::kEnded))
      more[telling_of(kind).word] = seen - kMostOfEach;
  }
  if (more.empty()) return;
  Event counted = receipt(EventKind::kPolicyDecision, "network.more", "counted");
  counted.detail = {{"more", std::move(more)}};
  if (clock_) {
    counted.detail["bytes_sent"] = std::exchange(more_sent_, 0);
    counted.detail["bytes_received"] = std::exchange(more_received_, 0);
  }
  audit_.add(counted);
}

void NetworkReceipts::finish() { count_the_rest(); }

}  // namespace bj
