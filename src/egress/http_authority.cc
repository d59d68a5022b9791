#include "egress/host_name.h"
#include "egress/http_head.h"
#include "egress/target_text.h"

namespace bj {

std::optional<Authority> parse_authority(std::string_view text) {
  Authority authority;
  const bool bracketed = text.starts_with('[');
  const size_t closing = bracketed ? text.find(']') : 0;
  if (closing == text.npos) return std::nullopt;
  const size_t colon = text.find(':', closing);
  if (colon != text.npos) {
    const auto port = parse_port_range(text.substr(colon + 1));
    if (!port || port->first != port->last || text.find('-', colon) != text.npos) return std::nullopt;
    authority.port = port->first;
  }
  std::string_view host = text.substr(0, colon);
  if (bracketed) {
    if (!host.ends_with(']')) return std::nullopt;
    host = host.substr(1, host.size() - 2);
    if (host.find(':') == host.npos) return std::nullopt;
  }
  authority.address = IpAddress::parse(host);
  if (authority.address) return authority;
  auto name = normalize_host_name(host);
  if (!name || bracketed) return std::nullopt;
  authority.name = std::move(*name);
  return authority;
}

}  // namespace bj
