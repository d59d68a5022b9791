#include "audit/ocsf.h"

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <string_view>

namespace bj {
namespace {

namespace json = boost::json;

struct Class {
  int64_t uid;
  const char* name;
  int64_t category;
  const char* category_name;
};
constexpr Class kFileSystem{1001, "File System Activity", 1, "System Activity"};
constexpr Class kProcess{1007, "Process Activity", 1, "System Activity"};
constexpr Class kNetwork{4001, "Network Activity", 4, "Network Activity"};
constexpr Class kApi{6003, "API Activity", 6, "Application Activity"};

bool is_about_the_network(const AuditRow& event) {
  return event.kind == "secret_use" || (event.kind == "policy_decision" && event.action.starts_with("network."));
}

Class class_of(const AuditRow& event) {
  if (event.kind == "command") return kProcess;
  if (event.kind == "file_write") return kFileSystem;
  if (is_about_the_network(event)) return kNetwork;
  return kApi;
}

struct Activity {
  int64_t id;
  const char* name;
};

Activity network_activity_of(const AuditRow& event) {
  if (event.kind == "secret_use") return {6, "Traffic"};
  if (event.outcome == "allowed") return {1, "Open"};
  if (event.outcome == "failed") return {4, "Fail"};
  if (event.outcome == "denied") return {5, "Refuse"};
  if (event.outcome == "ended") return {2, "Close"};
  return {99, "Other"};
}

// The verb is what follows the last dot of the action.
Activity activity_of(const AuditRow& event) {
  if (event.kind == "command") return {1, "Launch"};
  if (event.kind == "file_write") return {3, "Update"};
  if (is_about_the_network(event)) return network_activity_of(event);
  const std::string_view action = event.action;
  const std::string_view verb = action.substr(action.rfind('.') + 1);
  if (verb == "create") return {1, "Create"};
  if (verb == "put" || verb == "change" || verb == "rotate" || verb == "attach" || verb == "detach" ||
      verb == "rebuild")
    return {3, "Update"};
  if (verb == "remove" || verb == "revoke") return {4, "Delete"};
  return {99, "Other"};
}

json::object actor_of(const AuditRow& event) {
  json::object user{{"org", {{"uid", event.organization}}}};
  if (event.user) user["uid"] = *event.user;
  if (event.key) user["credential_uid"] = *event.key;
  return {{"user", std::move(user)}};
}

// Where to, by which rule.
void add_network_fields(const AuditRow& event, json::object& out) {
  json::error_code bad;
  const json::value parsed = json::parse(event.detail, bad);
  const json::object detail = parsed.is_object() ? parsed.get_object() : json::object();
  json::object to;
  for (const auto& [ours, theirs] : {std::pair{"host", "hostname"}, {"port", "port"}, {"address", "ip"}}) {
    if (const json::value* const value = detail.if_contains(ours)) to[theirs] = *value;
  }
  out["dst_endpoint"] = std::move(to);
  out["src_endpoint"] = {{"name", "sandbox"}};
  out["connection_info"] = {{"direction_id", 2}, {"direction", "Outbound"}, {"protocol_name", "tcp"}};
  const json::value* const decision = detail.if_contains("decision");
  if (decision == nullptr || !decision->is_object()) return;
  if (const json::value* const rule = decision->get_object().if_contains("rule_text"))
    out["firewall_rule"] = {{"name", *rule}};
  if (const json::value* const reason = decision->get_object().if_contains("reason")) out["message"] = *reason;
}

void add_class_fields(const AuditRow& event, const Class& its_class, json::object& out) {
  const std::string subject = event.subject.value_or("");
  if (its_class.uid == kProcess.uid) {
    out["process"] = {{"name", event.action}, {"uid", subject}};
    out["device"] = {{"type_id", 0}, {"name", "sandbox"}};
  } else if (its_class.uid == kFileSystem.uid) {
    out["file"] = {{"name", subject}, {"type_id", 1}};
    out["device"] = {{"type_id", 0}, {"name", "sandbox"}};
  } else if (its_class.uid == kNetwork.uid) {
    add_network_fields(event, out);
  } else {
    out["api"] = {{"operation", event.action}, {"service", {{"name", "belljar"}}}};
    out["src_endpoint"] = {{"name", "unknown"}};
    if (event.call_id) out["api"].as_object()["request"] = {{"uid", *event.call_id}};
    if (!subject.empty()) out["resources"] = json::array{json::object{{"uid", subject}}};
  }
}

}  // namespace

json::object ocsf_of(const AuditRow& event) {
  const Class its_class = class_of(event);
  const Activity activity = activity_of(event);
  const bool good =
      event.outcome == "success" || event.outcome == "ok" || event.outcome == "allowed" || event.outcome == "ended";
  json::error_code bad;
  json::object out{{"class_uid", its_class.uid},
                   {"class_name", its_class.name},
                   {"category_uid", its_class.category},
                   {"category_name", its_class.category_name},
                   {"activity_id", activity.id},
                   {"activity_name", activity.name},
                   {"type_uid", its_class.uid * 100 + activity.id},
                   {"time", event.time / 1000},
                   {"severity_id", 1},
                   {"severity", "Informational"},
                   {"status_id", good ? 1 : 2},
                   {"status", good ? "Success" : "Failure"},
                   {"status_detail", event.outcome},
                   {"metadata",
                    {{"version", "1.3.0"},
                     {"uid", event.id},
                     {"sequence", event.sequence},
                     {"log_name", "belljar audit"},
                     {"product", {{"name", "Belljar"}, {"vendor_name", "Belljar"}, {"version", BELLJAR_VERSION}}}}},
                   {"actor", actor_of(event)},
                   {"unmapped",
                    {{"kind", event.kind},
                     {"detail", json::parse(event.detail, bad)},
                     {"time_us", event.time},
                     {"previous_hash", event.previous_hash},
                     {"hash", event.hash}}}};
  if (event.call_id) out["metadata"].as_object()["correlation_uid"] = *event.call_id;
  add_class_fields(event, its_class, out);
  return out;
}

}  // namespace bj
