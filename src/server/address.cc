#include "server/address.h"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <charconv>

#include "server/headers.h"

namespace bj {
namespace {

namespace ip = boost::asio::ip;

bool is_port(std::string_view text) {
  return !text.empty() && text.size() <= 5 && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// "[::1]" without its brackets, else as it is.
std::string_view without_brackets(std::string_view name) {
  if (name.size() > 2 && name.front() == '[' && name.back() == ']') return name.substr(1, name.size() - 2);
  return name;
}

// An address in its one spelling; IPv4 that arrived on an IPv6 socket is IPv4.
std::string canonical(std::string_view text) {
  boost::system::error_code bad;
  ip::address address = ip::make_address(std::string(text), bad);
  if (bad) return {};
  if (address.is_v6() && address.to_v6().is_v4_mapped()) address = ip::make_address_v4(ip::v4_mapped, address.to_v6());
  return address.to_string();
}

}  // namespace

bool ServerAddress::is_loopback() const {
  boost::system::error_code bad;
  const ip::address address = ip::make_address(host, bad);
  return !bad && address.is_loopback();
}

std::string ServerAddress::text() const {
  return (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + std::to_string(port);
}

Result<ServerAddress> parse_address(const std::string& text) {
  const size_t colon = text.rfind(':');
  ServerAddress address;
  std::string host(without_brackets(std::string_view(text).substr(0, colon)));
  const std::string port = colon == std::string::npos ? "" : text.substr(colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (port.empty() || error != std::errc() || end != port.data() + port.size())
    return fail(Code::kInvalid, "\"" + text + "\" is not ADDRESS:PORT, such as 127.0.0.1:8090");
  if (host == "localhost") host = "127.0.0.1";
  boost::system::error_code bad;
  address.host = ip::make_address(host, bad).to_string();
  if (bad) return fail(Code::kInvalid, "\"" + host + "\" is not an IP address: use 127.0.0.1:" + port);
  return address;
}

std::string host_name(std::string_view host) {
  const size_t colon = host.rfind(':');
  const bool has_port = colon != std::string_view::npos && host.find(']', colon) == std::string_view::npos;
  if (has_port && !is_port(host.substr(colon + 1))) return {};
  std::string name(has_port ? host.substr(0, colon) : host);
  for (char& c : name)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  const bool bracketed = name.starts_with('[');
  const char* const good = bracketed ? "0123456789abcdef:.[]" : "abcdefghijklmnopqrstuvwxyz0123456789.-_";
  return name.find_first_not_of(good) == std::string::npos ? name : std::string();
}

bool host_is_ours(const SitePolicy& policy, std::string_view host, std::string_view local) {
  const std::string name = host_name(host);
  if (name.empty()) return false;
  boost::system::error_code bad;
  const bool arrived_on_loopback = ip::make_address(std::string(local), bad).is_loopback() && !bad;
  if (arrived_on_loopback && (name == "localhost" || name == "127.0.0.1" || name == "[::1]")) return true;
  const std::string address = canonical(without_brackets(name));
  if (!address.empty() && address == canonical(local)) return true;
  if (!policy.domain.empty() &&
      (name == policy.domain || name == "api." + policy.domain || name == "sandbox." + policy.domain))
    return true;
  return std::any_of(policy.host_names.begin(), policy.host_names.end(),
                     [&](const std::string& known) { return equal_ignoring_case(known, name); });
}

bool origin_is_ours(const SitePolicy& policy, std::string_view origin, std::string_view host) {
  if (origin.empty()) return true;
  for (const std::string& known : policy.origins)
    if (equal_ignoring_case(known, origin)) return true;
  for (const std::string_view scheme : {"http://", "https://"})
    if (origin.starts_with(scheme)) return !host.empty() && equal_ignoring_case(origin.substr(scheme.size()), host);
  return false;
}

}  // namespace bj
