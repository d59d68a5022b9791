#include "egress/credential_json.h"

#include <algorithm>
#include <array>
#include <boost/json/parse.hpp>

#include "egress/json_parts.h"

namespace bj {
namespace {

namespace json = boost::json;
using Place = GateCredential::Place;

constexpr size_t kMaxText = 64 * 1024;
constexpr size_t kMaxField = 128, kMaxFormat = 256, kMaxName = 64;
constexpr size_t kMinPlaceholder = 8, kMaxPlaceholder = 256;
constexpr size_t kMinValue = 8, kMaxValue = 8 * 1024;
constexpr std::string_view kValueHere = "{}";

bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

// Nothing that a client would escape in a URL, a form or JSON: the placeholder stands everywhere as it was given.
bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return is_letter_or_digit(c) || c == '-' || c == '.' || c == '_' || c == '~'; });
}

bool is_visible(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 0x7F; });
}

// Headers that say how a message is read or passed on: a value in them would change where a request goes or ends.
bool is_about_the_message(std::string_view header) {
  static constexpr std::array<std::string_view, 13> kNames = {
      "host",    "content-length", "transfer-encoding", "connection", "upgrade",          "expect",  "te",
      "trailer", "keep-alive",     "accept-encoding",   "range",      "content-encoding", "if-range"};
  std::string lower(header);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower.starts_with("proxy-") || lower.starts_with("sec-") ||
         std::find(kNames.begin(), kNames.end(), lower) != kNames.end();
}

Result<std::string> text_of(const json::object& object, std::string_view key, size_t most) {
  const json::value& value = object.at(key);
  if (!value.is_string() || value.get_string().size() > most)
    return refused("credential." + std::string(key),
                   "must be a text of at most " + std::to_string(most) + " characters");
  return std::string(value.get_string());
}

Result<void> read_header(const json::object& object, GateCredential& into) {
  BJ_TRY(into.field, text_of(object, "header", kMaxField));
  into.place = Place::kHeader;
  const bool plain = !into.field.empty() && std::all_of(into.field.begin(), into.field.end(), [](char c) {
    return is_letter_or_digit(c) || c == '-' || c == '_';
  });
  if (!plain)
    return refused("credential.header", "must be a header's name of letters, digits and hyphens, e.g. Authorization");
  if (is_about_the_message(into.field))
    return refused("credential.header", shown(into.field) + " tells how a message is read; it can hold no credential");
  return {};
}

Result<void> read_query(const json::object& object, GateCredential& into) {
  BJ_TRY(into.field, text_of(object, "query", kMaxField));
  into.place = Place::kQuery;
  if (into.field.empty() || !is_plain(into.field))
    return refused("credential.query", "must be a parameter's name of letters, digits and -._~");
  return {};
}

Result<void> read_place(const json::object& object, GateCredential& into) {
  const bool header = object.contains("header"), query = object.contains("query"), body = object.contains("body");
  if (header + query + body != 1)
    return refused("credential", "say where it goes: one of \"header\": NAME, \"query\": NAME and \"body\": true");
  if (header) return read_header(object, into);
  if (query) return read_query(object, into);
  if (object.at("body") != json::value(true)) return refused("credential.body", "must be true");
  into.place = Place::kBody;
  return {};
}

Result<void> read_format(const json::object& object, GateCredential& into) {
  if (!object.contains("format")) return {};
  BJ_TRY(into.format, text_of(object, "format", kMaxFormat));
  const size_t at = into.format.find(kValueHere);
  if (at == into.format.npos || into.format.find(kValueHere, at + 1) != into.format.npos || !is_visible(into.format))
    return refused("credential.format", "must hold {} once, where the value goes, e.g. \"Bearer {}\"");
  return {};
}

Result<void> read_placeholder(const json::object& object, GateCredential& into) {
  if (!object.contains("placeholder")) {
    if (into.place == Place::kBody)
      return refused("credential", "one in the body needs a \"placeholder\", which the value takes the place of");
    return {};
  }
  BJ_TRY(into.placeholder, text_of(object, "placeholder", kMaxPlaceholder));
  if (into.placeholder.size() < kMinPlaceholder || !is_plain(into.placeholder))
    return refused("credential.placeholder",
                   "must be at least 8 characters of letters, digits and -._~, so that it stands nowhere by chance and "
                   "is escaped nowhere");
  return {};
}

Result<void> read_hosts(const json::object& object, GateCredential& into) {
  if (!object.contains("hosts")) return refused("credential", "say which \"hosts\" it is for");
  BJ_TRY(into.hosts, read_targets(object.at("hosts"), "credential.hosts"));
  const auto is_name = [](const Target& host) {
    return host.kind == Target::Kind::kName || host.kind == Target::Kind::kBelow;
  };
  if (into.hosts.empty() || !std::all_of(into.hosts.begin(), into.hosts.end(), is_name))
    return refused("credential.hosts", "must be names, at least one: example.com or *.example.com, no addresses");
  return {};
}

}  // namespace

Result<GateCredential> parse_credential_binding(const json::value& value) {
  if (!value.is_object()) return refused("credential", "must be an object with \"hosts\"");
  const json::object& object = value.get_object();
  BJ_CHECK(check_keys(object,
                      {"hosts", "ports", "methods", "paths", "header", "query", "body", "format", "placeholder"},
                      "credential"));
  GateCredential credential;
  BJ_CHECK(read_hosts(object, credential));
  if (const json::value* ports = object.if_contains("ports")) {
    BJ_TRY(credential.ports, read_ports(*ports, "credential.ports"));
  }
  BJ_CHECK(read_request_part(object, "credential", credential.methods, credential.paths));
  const bool has_empty = credential.ports.empty() || (credential.methods && credential.methods->empty()) ||
                         (credential.paths && credential.paths->empty());
  if (has_empty) return refused("credential", "an empty list binds it to nothing: leave the key out for all of them");
  BJ_CHECK(read_place(object, credential));
  BJ_CHECK(read_format(object, credential));
  BJ_CHECK(read_placeholder(object, credential));
  return credential;
}

Result<GateCredential> parse_credential_binding_text(std::string_view text) {
  if (text.size() > kMaxText) return refused("credential", "is longer than 64 KB");
  json::parse_options options;
  options.max_depth = 8;
  boost::system::error_code error;
  const json::value value = json::parse(text, error, {}, options);
  if (error) return refused("credential", "is no JSON: " + error.message());
  return parse_credential_binding(value);
}

json::object binding_json(const GateCredential& credential) {
  const auto same = [](const std::string& text) { return text; };
  const auto text = [](const auto& one) { return one.text(); };
  json::object object;
  object["hosts"] = list_of(credential.hosts, text);
  object["ports"] = list_of(credential.ports, text);
  if (credential.methods) object["methods"] = list_of(*credential.methods, same);
  if (credential.paths) object["paths"] = list_of(*credential.paths, same);
  if (credential.place == Place::kHeader) object["header"] = credential.field;
  if (credential.place == Place::kQuery) object["query"] = credential.field;
  if (credential.place == Place::kBody) object["body"] = true;
  object["format"] = credential.format;
  if (!credential.placeholder.empty()) object["placeholder"] = credential.placeholder;
  return object;
}

Result<void> check_credential_name(std::string_view name) {
  const bool good = !name.empty() && name.size() <= kMaxName && std::all_of(name.begin(), name.end(), [](char c) {
    return is_letter_or_digit(c) || c == '-' || c == '.' || c == '_';
  });
  if (good) return {};
  return fail(Code::kInvalid,
              "\"" + shown(name) + "\" is no name for a credential: at most 64 letters, digits, hyphens, dots, _");
}

Result<void> check_credential_value(std::string_view value) {
  if (value.size() < kMinValue || value.size() > kMaxValue)
    return fail(
        Code::kInvalid,
        "a credential's value has 8 to 8192 characters: a shorter one can't be told from other text in answers");
  if (!is_visible(value) || value.front() == ' ' || value.back() == ' ')
    return fail(Code::kInvalid, "a credential's value is made of visible ASCII characters, on one line");
  return {};
}

}  // namespace bj
