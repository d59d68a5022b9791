#include "audit/event.h"

#include <algorithm>
#include <boost/json/serialize.hpp>

#include "base/id.h"
#include "base/utf8.h"

namespace bj {
namespace {

constexpr size_t kLongestText = 256;
constexpr size_t kLongestDetail = 8192;

MaybeText text_or_none(const std::string& text) { return text.empty() ? MaybeText() : MaybeText(short_name(text)); }

std::string detail_text(const boost::json::object& detail) {
  std::string text = valid_utf8(boost::json::serialize(detail));
  if (text.size() <= kLongestDetail) return text;
  return R"({"left_out_bytes":)" + std::to_string(text.size()) + "}";
}

}  // namespace

std::string_view kind_name(EventKind kind) {
  switch (kind) {
    case EventKind::kCall: return "call";
    case EventKind::kCommand: return "command";
    case EventKind::kFileWrite: return "file_write";
    case EventKind::kPolicyDecision: return "policy_decision";
    case EventKind::kSecretUse: return "secret_use";
    case EventKind::kAdministration: return "administration";
    case EventKind::kServer: break;
  }
  return "server";
}

std::string short_name(std::string_view text) {
  std::string name = valid_utf8(text.substr(0, kLongestText));
  std::replace(name.begin(), name.end(), '\0', '?');
  return name;
}

AuditRow row_of(const Event& event, int64_t now) {
  AuditRow row;
  row.id = new_id("event");
  row.time = event.time != 0 ? event.time : now;
  row.organization = short_name(event.actor.organization);
  row.user = text_or_none(event.actor.user);
  row.key = text_or_none(event.actor.key);
  row.kind = kind_name(event.kind);
  row.action = short_name(event.action);
  row.subject = text_or_none(event.subject);
  row.outcome = short_name(event.outcome);
  row.call_id = text_or_none(event.call_id);
  row.detail = detail_text(event.detail);
  return row;
}

}  // namespace bj
