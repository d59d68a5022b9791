#include "egress/network_use.h"

#include <algorithm>
#include <boost/json/array.hpp>

namespace bj {
namespace {

namespace json = boost::json;
using Kind = GateEvent::Kind;

// The entry for which `same` holds, or a new one; null: there is no room.
template <class Entry, class Same>
Entry* entry_of(std::vector<Entry>& list, const GateEvent& event, Same same) {
  const auto found = std::find_if(list.begin(), list.end(), same);
  if (found != list.end()) return &*found;
  if (list.size() >= NetworkUse::kMost) return nullptr;
  Entry& fresh = list.emplace_back();
  fresh.host = event.host;
  fresh.port = event.port;
  return &fresh;
}

NetworkUse::Reached* reached_entry(NetworkUse& use, const GateEvent& event) {
  return entry_of(use.reached, event, [&](const NetworkUse::Reached& known) {
    return known.host == event.host && known.port == event.port;
  });
}

bool count(std::vector<NetworkUse::Refused>& list, const GateEvent& event) {
  const std::string& reason = event.decision.reason;
  NetworkUse::Refused* const entry = entry_of(list, event, [&](const NetworkUse::Refused& known) {
    return known.host == event.host && known.port == event.port && known.reason == reason;
  });
  if (entry == nullptr) return false;
  entry->reason = reason;
  ++entry->times;
  return true;
}

json::array refused_json(const std::vector<NetworkUse::Refused>& list) {
  json::array out;
  for (const NetworkUse::Refused& one : list) {
    out.push_back(json::object{{"host", one.host}, {"port", one.port}, {"reason", one.reason}, {"times", one.times}});
  }
  return out;
}

}  // namespace

void NetworkUse::note(const GateEvent& event) {
  switch (event.kind) {
    case Kind::kNameDenied:
    case Kind::kConnectionDenied: left_out += count(denied, event) ? 0 : 1; return;
    case Kind::kUpstreamFailed: left_out += count(failed, event) ? 0 : 1; return;
    case Kind::kConnected:
      if (Reached* const entry = reached_entry(*this, event)) {
        ++entry->connections;
      } else {
        ++left_out;
      }
      return;
    case Kind::kEnded:
      if (Reached* const entry = reached_entry(*this, event)) {
        entry->bytes_sent += event.bytes_sent;
        entry->bytes_received += event.bytes_received;
      }
      return;
    case Kind::kCapReached:
      if (std::find(caps_reached.begin(), caps_reached.end(), event.cap) == caps_reached.end()) {
        caps_reached.push_back(event.cap);  // there are few
      }
      return;
    case Kind::kSecretUsed: return;
  }
}

GateListener noting(std::shared_ptr<NetworkUse> use, GateListener next) {
  return [use = std::move(use), next = std::move(next)](const GateEvent& event) {
    use->note(event);
    if (next) next(event);
  };
}

json::object network_use_json(const NetworkUse& use) {
  json::array reached;
  for (const NetworkUse::Reached& one : use.reached) {
    reached.push_back(json::object{{"host", one.host},
                                   {"port", one.port},
                                   {"connections", one.connections},
                                   {"bytes_sent", one.bytes_sent},
                                   {"bytes_received", one.bytes_received}});
  }
  json::array caps;
  for (const std::string& cap : use.caps_reached) caps.emplace_back(cap);
  return {{"reached", std::move(reached)},
          {"denied", refused_json(use.denied)},
          {"failed", refused_json(use.failed)},
          {"caps_reached", std::move(caps)},
          {"left_out", use.left_out}};
}

std::string refusal_text(const NetworkUse::Refused& refused) {
  return refused.host + (refused.port != 0 ? ":" + std::to_string(refused.port) : "") + ": " + refused.reason;
}

}  // namespace bj
