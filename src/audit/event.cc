#include "audit/event.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <cmath>

#include "base/id.h"
#include "base/utf8.h"

namespace bj {
namespace {

constexpr size_t kLongestText = 256;
constexpr size_t kLongestDetail = 8192;

MaybeText text_or_none(const std::string& text) { return text.empty() ? MaybeText() : MaybeText(short_name(text)); }

// The shortest text that is this number, as most writers of JSON have it: 36.5, not Boost's 3.65E1. Whoever checks an
// exported chain reads the detail and writes it again, and must come to the text that was hashed.
std::string number_text(double number) { return std::isfinite(number) ? fmt::format("{}", number) : "null"; }

void write(const boost::json::value& value, std::string& into);

void write(const boost::json::object& object, std::string& into) {
  into += '{';
  for (const auto& [name, value] : object) {
    if (into.back() != '{') into += ',';
    into.append(boost::json::serialize(name)) += ':';
    write(value, into);
  }
  into += '}';
}

void write(const boost::json::array& array, std::string& into) {
  into += '[';
  for (const boost::json::value& value : array) {
    if (into.back() != '[') into += ',';
    write(value, into);
  }
  into += ']';
}

void write(const boost::json::value& value, std::string& into) {
  if (value.is_object()) return write(value.get_object(), into);
  if (value.is_array()) return write(value.get_array(), into);
  into += value.is_double() ? number_text(value.get_double()) : boost::json::serialize(value);
}

std::string detail_text(const boost::json::object& detail) {
  std::string text;
  write(detail, text);
  text = valid_utf8(text);
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
