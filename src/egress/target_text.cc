#include "egress/target_text.h"

#include <charconv>

#include "egress/host_name.h"

namespace bj {
namespace {

std::string quoted(std::string_view text) {
  std::string safe = "\"";
  for (const char c : text.substr(0, 80)) safe += c >= ' ' && c < 0x7F ? c : '?';
  return safe + "\"";
}

// 1 to 65535, digits only, no leading zero; 0 if it is none.
uint16_t port_of(std::string_view text) {
  unsigned port = 0;
  if (text.empty() || text.size() > 5 || text[0] == '0') return 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port > 65535) return 0;
  return static_cast<uint16_t>(port);
}

}  // namespace

Result<Target> parse_target_text(std::string_view text) {
  if (text == "*" || text == "*." || text == "**")
    return fail(Code::kInvalid, quoted(text) + " is no target: to allow everything public write \"preset\": \"open\"");
  if (text.find('/') != text.npos || IpAddress::parse(text)) {
    if (text.find("://") != text.npos)
      return fail(Code::kInvalid,
                  quoted(text) + " is a URL: write only its host, ports and paths have their own lists");
    BJ_TRY(const Cidr range, Cidr::parse(text));
    return Target{Target::Kind::kRange, {}, range};
  }
  const bool below = text.starts_with("*.");
  BJ_TRY(std::string name, normalize_host_name(below ? text.substr(2) : text));
  return Target{below ? Target::Kind::kBelow : Target::Kind::kName, std::move(name), {}};
}

Result<PortRange> parse_port_range(std::string_view text) {
  const size_t hyphen = text.find('-');
  const uint16_t first = port_of(text.substr(0, hyphen));
  const uint16_t last = hyphen == text.npos ? first : port_of(text.substr(hyphen + 1));
  if (first == 0 || last == 0 || first > last)
    return fail(Code::kInvalid, quoted(text) + " is no port: write 443 or \"8000-8100\", from 1 to 65535");
  return PortRange{first, last};
}

Result<PrivateAddress> parse_private_address(std::string_view text) {
  const auto refusal = [&] {
    return fail(Code::kInvalid,
                quoted(text) + " is no single address: write 10.0.0.5, 10.0.0.5:5432 or [fd00::5]:5432");
  };
  if (const auto address = IpAddress::parse(text)) return PrivateAddress{*address, {}};
  const size_t colon = text.rfind(':');
  if (colon == text.npos) return refusal();
  std::string_view host = text.substr(0, colon);
  const bool bracketed = host.starts_with('[') && host.ends_with(']') && host.size() > 2;
  if (bracketed) host = host.substr(1, host.size() - 2);
  const auto address = IpAddress::parse(host);
  auto ports = parse_port_range(text.substr(colon + 1));
  if (!address || !ports || bracketed != (host.find(':') != host.npos)) return refusal();
  return PrivateAddress{*address, *ports};
}

}  // namespace bj
