#include "api/native/call_json.h"

#include "tools/stored_json.h"

namespace bj::native {
namespace {

namespace json = boost::json;

json::value text_or_null(const MaybeText& text) { return text ? json::value(*text) : json::value(nullptr); }

}  // namespace

json::object call_json(const CallRow& call) {
  return {{"id", call.id},
          {"tool_id", text_or_null(call.tool_id)},
          {"tool_name", call.tool_name},
          {"agent_id", text_or_null(call.agent_id)},
          {"user_id", text_or_null(call.user)},
          {"status", call.status},
          {"provider", call.provider},
          {"fingerprint", text_or_null(call.fingerprint)},
          {"limits_hit", stored_json(call.limits_hit)},
          {"started_at", time_text(call.started_at)},
          {"duration_ms", static_cast<double>(call.duration_us) / 1000}};
}

}  // namespace bj::native
