#include "api/preview/passing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "server/target.h"

namespace bj::preview {
namespace {

// About one connection, not about the message; and what a body is framed by, which is written anew.
constexpr std::array kOneHop = {"connection",
                                "keep-alive",
                                "proxy-authenticate",
                                "proxy-authorization",
                                "proxy-connection",
                                "te",
                                "trailer",
                                "transfer-encoding",
                                "upgrade",
                                "expect",
                                "content-length",
                                "host",
                                "http2-settings"};
// Ours, or written by us.
constexpr std::array kNeverInward = {
    "x-api-key",        "x-bare-password",   "x-access-token",  "e2b-traffic-access-token",
    "e2b-sandbox-id",   "e2b-sandbox-port",  "x-belljar-token", "x-forwarded-for",
    "x-forwarded-host", "x-forwarded-proto", "forwarded"};
// About more than the one origin that the sandbox has.
constexpr std::array kNeverOutward = {
    "strict-transport-security", "public-key-pins", "alt-svc", "clear-site-data", "report-to", "nel", "expect-ct"};
// Would be the whole origin's, where that is the API's and every other sandbox's too: a cookie, a password.
constexpr std::array kNeverInOurOrigin = {"set-cookie", "service-worker-allowed", "www-authenticate"};
// A page in the API's own origin is kept out of it: without allow-same-origin its origin is none.
constexpr const char* kNoOrigin = "sandbox allow-scripts allow-forms allow-popups allow-modals allow-downloads";

template <class Names>
bool is_in(const Names& names, std::string_view name) {
  return std::any_of(names.begin(), names.end(), [&](const char* known) { return equal_ignoring_case(known, name); });
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Of "a=1; b=2" without the cookies or attributes of that name.
std::string without_part(std::string_view list, std::string_view name) {
  std::string kept;
  while (!list.empty()) {
    const size_t end = std::min(list.find(';'), list.size());
    const std::string_view part = trimmed(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
    if (part.empty() || equal_ignoring_case(trimmed(part.substr(0, part.find('='))), name)) continue;
    kept.append(kept.empty() ? "" : "; ").append(part);
  }
  return kept;
}

// Whatever scheme its sender took for the right one.
bool is_key_of_ours(std::string_view authorization) {
  authorization = trimmed(authorization);
  const std::string_view key = authorization.substr(authorization.find_last_of(" \t") + 1);
  return key.starts_with("e2b_") || key.starts_with("bj_");
}

// What the Connection header names is of one hop, too.
bool is_named(const std::vector<std::string>& names, std::string_view name) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& known) { return equal_ignoring_case(known, name); });
}

void append(std::string& text, std::string_view name, std::string_view value) {
  text.append(name).append(": ");
  for (const char c : value) text += (c == '\r' || c == '\n' || c == '\0') ? ' ' : c;
  text += "\r\n";
}

void append_framing(std::string& text, const HttpRequest& request) {
  const bool chunked = request.headers.has("Transfer-Encoding");
  const std::string_view length = request.headers.get("Content-Length");
  if (chunked) append(text, "Transfer-Encoding", "chunked");
  if (!chunked && !length.empty()) append(text, "Content-Length", length);
}

std::string path_of(const Traffic& traffic) {
  return fmt::format("/v1/sandboxes/{}/ports/{}", traffic.sandbox, traffic.port);
}

}  // namespace

std::string_view cookie_of(std::string_view header, std::string_view name) {
  while (!header.empty()) {
    const size_t end = std::min(header.find(';'), header.size());
    const std::string_view part = trimmed(header.substr(0, end));
    header.remove_prefix(std::min(end + 1, header.size()));
    const size_t equals = part.find('=');
    if (equals != std::string_view::npos && part.substr(0, equals) == name) return part.substr(equals + 1);
  }
  return {};
}

std::string query_without_token(std::string_view query) {
  std::string kept;
  while (!query.empty()) {
    const size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    const Result<std::string> name = percent_decoded(pair.substr(0, pair.find('=')));
    if (name && *name == kTokenQuery) continue;
    kept.append(kept.empty() ? "" : "&").append(pair);
  }
  return kept;
}

bool is_upgrade(const HttpRequest& request) {
  return has_token(request.headers.get("Upgrade"), "websocket") &&
         has_token(request.headers.get("Connection"), "upgrade");
}

std::string request_head(const HttpRequest& request, const Traffic& traffic, std::string_view host) {
  std::string text = std::string(name_of(request.method)) + " " + traffic.path;
  const std::string query = query_without_token(request.query_text);
  if (!query.empty()) text.append("?").append(query);
  text += " HTTP/1.1\r\n";
  append(text, "Host", host.empty() ? request.headers.get("Host") : host);
  const std::vector<std::string> named = http_list(request.headers.get("Connection"));
  const bool in_our_origin = traffic.by == Traffic::By::kPath;
  for (const auto& [name, value] : request.headers) {
    if (is_in(kOneHop, name) || is_in(kNeverInward, name) || is_named(named, name)) continue;
    if (equal_ignoring_case(name, "authorization") && is_key_of_ours(value)) continue;
    if (!equal_ignoring_case(name, "cookie")) {
      append(text, name, value);
    } else if (in_our_origin) {
      continue;  // a sandbox sets none here: they are of others who have this host's name
    } else if (const std::string cookies = without_part(value, kTokenCookie); !cookies.empty()) {
      append(text, name, cookies);
    }
  }
  append(text, "X-Forwarded-For", request.peer);
  append(text, "X-Forwarded-Host", request.headers.get("Host"));
  append(text, "X-Forwarded-Proto", request.secure ? "https" : "http");
  append_framing(text, request);
  if (is_upgrade(request)) append(text, "Upgrade", "websocket");
  append(text, "Connection", is_upgrade(request) ? "Upgrade" : "close");
  return text + "\r\n";
}

HttpResponse passed_on(const ResponseHead& head, const Traffic& traffic) {
  HttpResponse response;
  response.status = static_cast<unsigned>(head.status);
  response.foreign = true;
  const bool in_our_origin = traffic.by == Traffic::By::kPath;
  std::vector<std::string> named;
  for (const HttpField& field : head.fields) {
    if (field.name == "connection") named = http_list(field.value);
  }
  for (const HttpField& field : head.fields) {
    if (is_in(kOneHop, field.name) || is_in(kNeverOutward, field.name) || is_named(named, field.name)) continue;
    if (in_our_origin && is_in(kNeverInOurOrigin, field.name)) continue;
    if (field.name == "set-cookie") {
      response.headers.add(field.name, without_part(field.value, "domain"));
    } else if (field.name == "location" && in_our_origin && field.value.starts_with("/") &&
               !field.value.starts_with("//")) {
      response.headers.add(field.name, path_of(traffic) + field.value);
    } else {
      response.headers.add(field.name, field.value);
    }
  }
  if (in_our_origin) response.headers.add("Content-Security-Policy", kNoOrigin);
  if (head.status == 101) response.headers.add("Upgrade", "websocket");
  return response;
}

}  // namespace bj::preview
