#include "server/traffic.h"

#include <charconv>

namespace bj {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kIdCharacters = "abcdefghijklmnopqrstuvwxyz0123456789";
constexpr std::string_view kPathStart = "/v1/sandboxes/";
constexpr std::string_view kPathPorts = "/ports/";

std::optional<uint16_t> port_of(std::string_view text) {
  unsigned port = 0;
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (text.empty() || bad != std::errc() || end != text.data() + text.size() || port == 0 || port > UINT16_MAX)
    return std::nullopt;
  return static_cast<uint16_t>(port);
}

bool is_sandbox_id(std::string_view text) {
  return !text.empty() && text.size() <= 63 && text.find_first_not_of(kIdCharacters) == std::string_view::npos;
}

// Of "8080-sbabc.example.org" what stands before the dash; empty: it is no such name.
std::string_view digits_before_dash(std::string_view name) {
  const size_t dash = name.find('-');
  if (dash == 0 || dash == std::string_view::npos) return {};
  const std::string_view digits = name.substr(0, dash);
  return digits.find_first_not_of(kDigits) == std::string_view::npos ? digits : std::string_view();
}

// "127.0.0.1.nip.io" and its like: names that lead to the address they hold.
bool names_address(std::string_view name, const HttpRequest& request) {
  for (const std::string_view service : {".nip.io", ".sslip.io"}) {
    if (name.ends_with(service) && name.substr(0, name.size() - service.size()) == request.local) return true;
  }
  return false;
}

Result<std::optional<Traffic>> by_host(const SitePolicy& site, const HttpRequest& request) {
  const std::string name = host_name(request.headers.get("Host"));
  const std::string_view digits = digits_before_dash(name);
  const size_t dot = name.find('.');
  if (digits.empty() || dot == std::string::npos) return std::nullopt;
  const std::string below = name.substr(dot + 1);
  const std::string id = name.substr(digits.size() + 1, dot - digits.size() - 1);
  if (below != site.domain && !host_is_ours(site, below, request.local) && !names_address(below, request))
    return fail(Code::kDenied, "The Host header names a sandbox below a name that is not this server's");
  const std::optional<uint16_t> port = port_of(digits);
  // An old form of ids has a client's behind a dash.
  const std::string sandbox = id.substr(0, id.find('-'));
  if (!port || !is_sandbox_id(sandbox)) return fail(Code::kInvalid, "The host name must be PORT-SANDBOX.DOMAIN");
  return Traffic{Traffic::By::kHost, sandbox, *port, request.path};
}

Result<std::optional<Traffic>> by_headers(const SitePolicy& site, const HttpRequest& request) {
  const size_t ids = request.headers.count("E2b-Sandbox-Id");
  const size_t ports = request.headers.count("E2b-Sandbox-Port");
  if (ids + ports == 0) return std::nullopt;
  if (!host_is_ours(site, request.headers.get("Host"), request.local))
    return fail(Code::kDenied, "The Host header must name this server");
  const std::string id(request.headers.get("E2b-Sandbox-Id"));
  const std::string sandbox = id.substr(0, id.find('-'));
  const std::optional<uint16_t> port = port_of(request.headers.get("E2b-Sandbox-Port"));
  if (ids != 1 || ports != 1 || !port || !is_sandbox_id(sandbox))
    return fail(Code::kInvalid, "E2b-Sandbox-Id and E2b-Sandbox-Port belong together: a sandbox and one of its ports");
  return Traffic{Traffic::By::kHeaders, sandbox, *port, request.path};
}

Result<std::optional<Traffic>> by_path(const SitePolicy& site, const HttpRequest& request) {
  std::string_view rest = request.path;
  if (!rest.starts_with(kPathStart)) return std::nullopt;
  rest.remove_prefix(kPathStart.size());
  const size_t slash = rest.find('/');
  if (slash == std::string_view::npos || !rest.substr(slash).starts_with(kPathPorts)) return std::nullopt;
  const std::string sandbox(rest.substr(0, slash));
  rest.remove_prefix(slash + kPathPorts.size());
  const size_t end = std::min(rest.find('/'), rest.size());
  const std::optional<uint16_t> port = port_of(rest.substr(0, end));
  if (!port || !is_sandbox_id(sandbox)) return std::nullopt;
  if (!host_is_ours(site, request.headers.get("Host"), request.local))
    return fail(Code::kDenied, "The Host header must name this server");
  rest.remove_prefix(end);
  return Traffic{Traffic::By::kPath, sandbox, *port, rest.empty() ? "/" : std::string(rest)};
}

}  // namespace

Result<std::optional<Traffic>> traffic_of(const SitePolicy& site, const HttpRequest& request) {
  BJ_TRY(std::optional<Traffic> traffic, by_host(site, request));
  if (!traffic) {
    BJ_TRY(traffic, by_headers(site, request));
  }
  if (!traffic) {
    BJ_TRY(traffic, by_path(site, request));
  }
  return traffic;
}

}  // namespace bj
