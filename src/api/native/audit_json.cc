#include "api/native/audit_json.h"

#include <boost/json/parse.hpp>

#include "api/time_text.h"

namespace bj::native {
namespace {

namespace json = boost::json;

json::value text_or_null(const MaybeText& text) { return text ? json::value(*text) : json::value(nullptr); }

}  // namespace

json::object audit_json(const AuditRow& event) {
  json::error_code bad;
  return {{"sequence", event.sequence},
          {"id", event.id},
          {"time", time_text(event.time)},
          {"organization_id", event.organization},
          {"user_id", text_or_null(event.user)},
          {"key_id", text_or_null(event.key)},
          {"kind", event.kind},
          {"action", event.action},
          {"subject", text_or_null(event.subject)},
          {"outcome", event.outcome},
          {"call_id", text_or_null(event.call_id)},
          {"detail", json::parse(event.detail, bad)},
          {"previous_hash", event.previous_hash},
          {"hash", event.hash}};
}

}  // namespace bj::native
