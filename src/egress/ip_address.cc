#include "egress/ip_address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace bj {
namespace {

struct SpecialRange {
  const char* text;
  AddressKind kind;
};

// The first that contains an address says what it is: narrow ones stand before the wide ones around them.
constexpr SpecialRange kSpecialV4[] = {
    {"169.254.169.254/32", AddressKind::kMetadata},  // AWS, Google, Azure, OpenStack and most others
    {"169.254.170.2/32", AddressKind::kMetadata},    // AWS containers
    {"169.254.170.23/32", AddressKind::kMetadata},   // AWS pods
    {"100.100.100.200/32", AddressKind::kMetadata},  // Alibaba
    {"192.0.0.192/32", AddressKind::kMetadata},      // Oracle
    {"168.63.129.16/32", AddressKind::kMetadata},    // Azure's wire server, in public space
    {"0.0.0.0/8", AddressKind::kUnspecified},         {"10.0.0.0/8", AddressKind::kPrivate},
    {"100.64.0.0/10", AddressKind::kSharedNat},       {"127.0.0.0/8", AddressKind::kLoopback},
    {"169.254.0.0/16", AddressKind::kLinkLocal},      {"172.16.0.0/12", AddressKind::kPrivate},
    {"192.0.0.0/24", AddressKind::kReserved},         {"192.0.2.0/24", AddressKind::kDocumentation},
    {"192.88.99.0/24", AddressKind::kReserved},  // relays of 6to4
    {"192.168.0.0/16", AddressKind::kPrivate},        {"198.18.0.0/15", AddressKind::kBenchmark},
    {"198.51.100.0/24", AddressKind::kDocumentation}, {"203.0.113.0/24", AddressKind::kDocumentation},
    {"224.0.0.0/4", AddressKind::kMulticast},         {"240.0.0.0/4", AddressKind::kReserved},
};
constexpr SpecialRange kSpecialV6[] = {
    {"fd00:ec2::254/128", AddressKind::kMetadata},  // AWS
    {"fd00:ec2::23/128", AddressKind::kMetadata},   // AWS pods
    {"fd20:ce::254/128", AddressKind::kMetadata},   // Google
    {"fd00:42::42/128", AddressKind::kMetadata},    // Scaleway
    {"::/128", AddressKind::kUnspecified},
    {"::1/128", AddressKind::kLoopback},
    {"::/96", AddressKind::kTranslated},            // IPv4-compatible
    {"::ffff:0:0:0/96", AddressKind::kTranslated},  // IPv4-translated (SIIT)
    {"64:ff9b:1::/48", AddressKind::kTranslated},   // a network's own NAT64
    {"2001::/32", AddressKind::kTranslated},        // Teredo
    {"2002::/16", AddressKind::kTranslated},        // 6to4
    {"2001:2::/48", AddressKind::kBenchmark},
    {"2001:db8::/32", AddressKind::kDocumentation},
    {"3fff::/20", AddressKind::kDocumentation},
    {"2001::/23", AddressKind::kReserved},
    {"fc00::/7", AddressKind::kPrivate},
    {"fec0::/10", AddressKind::kPrivate},
    {"fe80::/10", AddressKind::kLinkLocal},
    {"ff00::/8", AddressKind::kMulticast},
    {"::/3", AddressKind::kReserved},  // everything but 2000::/3 is unassigned
    {"4000::/2", AddressKind::kReserved},
    {"8000::/1", AddressKind::kReserved},
};

struct KnownRange {
  Cidr range;
  AddressKind kind;
};

std::vector<KnownRange> read_table() {
  std::vector<KnownRange> known;
  for (const SpecialRange& special : kSpecialV4) known.push_back({*Cidr::parse(special.text), special.kind});
  for (const SpecialRange& special : kSpecialV6) known.push_back({*Cidr::parse(special.text), special.kind});
  return known;
}

const std::vector<KnownRange>& table() {
  static const std::vector<KnownRange> known = read_table();
  return known;
}

// True if the first `bits` bits are the same.
bool same_prefix(const std::array<uint8_t, 16>& a, const std::array<uint8_t, 16>& b, unsigned bits) {
  const unsigned whole = bits / 8;
  if (std::memcmp(a.data(), b.data(), whole) != 0) return false;
  if (bits % 8 == 0) return true;
  const unsigned shift = 8 - bits % 8;
  return a[whole] >> shift == b[whole] >> shift;
}

void clear_behind(std::array<uint8_t, 16>& bytes, unsigned bits) {
  for (unsigned i = 0; i < bytes.size(); ++i) {
    if (i * 8 >= bits)
      bytes[i] = 0;
    else if (bits - i * 8 < 8)
      bytes[i] &= static_cast<uint8_t>(0xFF << (8 - (bits - i * 8)));
  }
}

// 64:ff9b::/96, the NAT64 prefix that everybody may use.
constexpr std::array<uint8_t, 16> kNat64 = {0, 0x64, 0xFF, 0x9B};

}  // namespace

IpAddress IpAddress::v4(uint32_t host_order) {
  IpAddress address;
  for (int i = 0; i < 4; ++i) address.bytes[i] = static_cast<uint8_t>(host_order >> (24 - 8 * i));
  return address;
}

IpAddress IpAddress::v4(const uint8_t (&network_order)[4]) {
  IpAddress address;
  std::copy(std::begin(network_order), std::end(network_order), address.bytes.begin());
  return address;
}

IpAddress IpAddress::v6(const std::array<uint8_t, 16>& network_order) {
  static constexpr std::array<uint8_t, 16> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
  IpAddress address;
  if (same_prefix(network_order, kMapped, 96)) {
    std::copy(network_order.begin() + 12, network_order.end(), address.bytes.begin());
  } else {
    address.bytes = network_order;
    address.is_v6 = true;
  }
  return address;
}

std::optional<IpAddress> IpAddress::parse(std::string_view text) {
  if (text.empty() || text.size() >= INET6_ADDRSTRLEN || text.find('\0') != text.npos) return std::nullopt;
  const std::string terminated(text);
  if (text.find(':') != text.npos) {
    std::array<uint8_t, 16> bytes{};
    if (::inet_pton(AF_INET6, terminated.c_str(), bytes.data()) != 1) return std::nullopt;
    return v6(bytes);
  }
  uint8_t bytes[4] = {};
  if (::inet_pton(AF_INET, terminated.c_str(), bytes) != 1) return std::nullopt;
  return v4(bytes);
}

uint32_t IpAddress::v4_value() const {
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
}

std::string IpAddress::text() const {
  char buffer[INET6_ADDRSTRLEN] = {};
  ::inet_ntop(is_v6 ? AF_INET6 : AF_INET, bytes.data(), buffer, sizeof buffer);
  return buffer;
}

Result<Cidr> Cidr::parse(std::string_view text) {
  const size_t slash = text.find('/');
  const auto address = IpAddress::parse(text.substr(0, slash));
  if (!address)
    return fail(Code::kInvalid, "\"" + std::string(text.substr(0, 64)) +
                                    "\" is no address or range: write 192.0.2.0/24, 192.0.2.7 or 2001:db8::/32");
  const bool mapped = !address->is_v6 && text.find(':') != text.npos;
  Cidr range{*address, address->is_v6 ? 128u : 32u};
  if (slash != text.npos) {
    const std::string_view bits = text.substr(slash + 1);
    unsigned prefix = 0;
    const auto [end, error] = std::from_chars(bits.data(), bits.data() + bits.size(), prefix);
    if (mapped)
      return fail(Code::kInvalid, "\"" + std::string(text) + "\" is IPv4 in IPv6's dress: write the IPv4 range");
    if (bits.empty() || bits.size() > 3 || error != std::errc() || end != bits.data() + bits.size() ||
        (bits.size() > 1 && bits[0] == '0') || prefix > range.prefix)
      return fail(Code::kInvalid, "\"" + std::string(text.substr(0, 64)) + "\": the prefix behind the slash is 0 to " +
                                      std::to_string(range.prefix));
    range.prefix = prefix;
  }
  clear_behind(range.base.bytes, range.prefix);
  if (range.base != *address)
    return fail(Code::kInvalid, "\"" + std::string(text) + "\" has bits behind its prefix: write " + range.text() +
                                    ", or the single address without a slash");
  return range;
}

bool Cidr::contains(const IpAddress& address) const {
  return address.is_v6 == base.is_v6 && same_prefix(address.bytes, base.bytes, prefix);
}

bool Cidr::contains(const Cidr& other) const { return other.prefix >= prefix && contains(other.base); }

std::string Cidr::text() const {
  if (prefix == (base.is_v6 ? 128u : 32u)) return base.text();
  return base.text() + "/" + std::to_string(prefix);
}

IpAddress reached_by(const IpAddress& address) {
  if (!address.is_v6 || !same_prefix(address.bytes, kNat64, 96)) return address;
  IpAddress carried;
  std::copy(address.bytes.begin() + 12, address.bytes.end(), carried.bytes.begin());
  return carried;
}

AddressKind kind_of(const IpAddress& address) {
  if (const IpAddress carried = reached_by(address); carried != address)
    return kind_of(carried) == AddressKind::kPublic ? AddressKind::kPublic : AddressKind::kTranslated;
  for (const KnownRange& known : table()) {
    if (known.range.contains(address)) return known.kind;
  }
  return AddressKind::kPublic;
}

std::string_view describe(AddressKind kind) {
  switch (kind) {
    case AddressKind::kPublic: return "a public address";
    case AddressKind::kUnspecified: return "no address of a host";
    case AddressKind::kLoopback: return "a loopback address";
    case AddressKind::kPrivate: return "a private address";
    case AddressKind::kLinkLocal: return "a link-local address";
    case AddressKind::kMetadata: return "a cloud's metadata service";
    case AddressKind::kSharedNat: return "an address of a provider's shared range";
    case AddressKind::kMulticast: return "a multicast address";
    case AddressKind::kDocumentation: return "an address for documentation";
    case AddressKind::kBenchmark: return "an address of the range for benchmarks";
    case AddressKind::kReserved: return "a reserved address";
    case AddressKind::kTranslated: return "an IPv6 form of an IPv4 address that is not public";
  }
  return "no public address";
}

const std::vector<Cidr>& ranges_that_are_not_public() {
  static const std::vector<Cidr> ranges = [] {
    std::vector<Cidr> widest;
    for (const KnownRange& known : table()) {
      const bool inside = std::any_of(table().begin(), table().end(), [&](const KnownRange& other) {
        return other.range != known.range && other.range.contains(known.range);
      });
      if (!inside) widest.push_back(known.range);
    }
    std::sort(widest.begin(), widest.end());
    return widest;
  }();
  return ranges;
}

}  // namespace bj
