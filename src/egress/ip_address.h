// An IP address and a range of them as plain values, and what kind of place an address is.
//
// Decisions about the network are made on these bytes, never on text: "127.1", "0x7f000001" and "2130706433" are no
// addresses here. An IPv4-mapped IPv6 address (::ffff:10.0.0.1) is the IPv4 address, because a connect() to either
// reaches the same host; other forms that carry an IPv4 address (NAT64, 6to4, Teredo, compatible) stay what they are
// and are as forbidden as what they carry. What rules say of an IPv4 address they say of it behind NAT64, too.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace bj {

struct IpAddress {
  std::array<uint8_t, 16> bytes{};  // IPv4: the first four
  bool is_v6 = false;

  static IpAddress v4(uint32_t host_order);
  static IpAddress v4(const uint8_t (&network_order)[4]);
  // IPv4-mapped becomes IPv4.
  static IpAddress v6(const std::array<uint8_t, 16>& network_order);

  // "192.0.2.1" (four decimal parts, no leading zeros) or "2001:db8::1"; nothing else, no zone, no brackets.
  static std::optional<IpAddress> parse(std::string_view text);

  uint32_t v4_value() const;  // host order; IPv4 only
  std::string text() const;
  auto operator<=>(const IpAddress&) const = default;
};

struct Cidr {
  IpAddress base;       // bits behind the prefix are zero
  unsigned prefix = 0;  // 0..32 or 0..128

  // "192.0.2.0/24", "2001:db8::/32", or a single address. Bits set behind the prefix are an error that says what to
  // write instead.
  static Result<Cidr> parse(std::string_view text);

  bool contains(const IpAddress& address) const;
  bool contains(const Cidr& other) const;
  std::string text() const;
  auto operator<=>(const Cidr&) const = default;
};

enum class AddressKind {
  kPublic,
  kUnspecified,    // 0.0.0.0/8, ::
  kLoopback,       // 127.0.0.0/8, ::1
  kPrivate,        // RFC 1918, fc00::/7, fec0::/10
  kLinkLocal,      // 169.254.0.0/16, fe80::/10
  kMetadata,       // the clouds' metadata services
  kSharedNat,      // 100.64.0.0/10
  kMulticast,      // 224.0.0.0/4, ff00::/8
  kDocumentation,  // 192.0.2.0/24 and others, 2001:db8::/32
  kBenchmark,      // 198.18.0.0/15: also where synthetic addresses come from
  kReserved,       // 240.0.0.0/4, broadcast, 192.0.0.0/24, everything outside 2000::/3
  kTranslated,     // an IPv6 form that carries an IPv4 address which is not public (or may not be told)
};

// Which host a connection to this address reaches: of 64:ff9b::/96, where NAT64 translates, the IPv4 address in it;
// else the address itself.
IpAddress reached_by(const IpAddress& address);

AddressKind kind_of(const IpAddress& address);
// "a private address", "a metadata service", ...
std::string_view describe(AddressKind kind);

// Ranges that hold every address that is not kPublic, for kernel sets. Sorted, and no range contains another. NAT64 is
// among them as a whole, although kind_of() lets it carry public addresses: programs don't connect to it by hand.
const std::vector<Cidr>& ranges_that_are_not_public();

}  // namespace bj
