#include "launcher/gated_network.h"

#include <sys/socket.h>

// clang-format off: the C library's first, then the kernel's leaves its names alone
#include <netinet/in.h>
#include <linux/netfilter.h>
// clang-format on

#include "launcher/gate_control.h"
#include "sys/nftables.h"
#include "sys/rtnetlink.h"

namespace bj {
namespace {

using namespace gate_rules;
using nft::Rule;

constexpr std::array<uint8_t, 4> kOwn4 = {198, 18, 0, 1};
constexpr std::array<uint8_t, 16> kOwn6 = {0xfd, 0, 0xbe, 0x11, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
constexpr std::array<uint8_t, 1> kLoop4 = {127};
constexpr std::array<uint8_t, 16> kLoop6 = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
constexpr int kBacklog = 512;
// What waits in a connection between the sandbox and the gate is nobody's memory but the machine's: the kernel must not
// let it grow to megabytes each, and on loopback nothing is gained by that.
constexpr int kBufferBytes = 256 * 1024;
constexpr int32_t kNatPriority = -100;

struct PairSet {
  const char* name;
  uint32_t id;
  uint8_t family;
  size_t address_size;
};
constexpr std::array<PairSet, 2> kNames = {{{kNames4, 1, NFPROTO_IPV4, 4}, {kNames6, 2, NFPROTO_IPV6, 16}}};
constexpr std::array<PairSet, 2> kClosed = {{{kClosed4, 3, NFPROTO_IPV4, 4}, {kClosed6, 4, NFPROTO_IPV6, 16}}};
constexpr std::array<PairSet, 2> kOpen = {{{kOpen4, 5, NFPROTO_IPV4, 4}, {kOpen6, 6, NFPROTO_IPV6, 16}}};
constexpr std::array<PairSet, 2> kRefused = {{{kRefused4, 7, NFPROTO_IPV4, 4}, {kRefused6, 8, NFPROTO_IPV6, 16}}};
constexpr std::array<PairSet, 2> kRefusedUdp = {
    {{kRefusedUdp4, 9, NFPROTO_IPV4, 4}, {kRefusedUdp6, 10, NFPROTO_IPV6, 16}}};

Result<void> set_addresses() {
  BJ_TRY(const Fd socket, netlink_socket(NETLINK_ROUTE));
  NetlinkBatch batch;
  rt::set_link_up(batch, rt::kLoopback);
  rt::add_address(batch, AF_INET, kOwn4);
  rt::add_address(batch, AF_INET6, kOwn6);
  BJ_CHECK(batch.send(socket.get(), "addresses"));
  rt::add_default_route(batch, AF_INET, kOwn4);
  rt::add_default_route(batch, AF_INET6, kOwn6);
  return batch.send(socket.get(), "routes");
}

void accept_loopback(nft::Transaction& t, const char* chain) {
  Rule(t, chain).family(NFPROTO_IPV4).to_address(kLoop4).accept();
  Rule(t, chain).family(NFPROTO_IPV6).to_address(kLoop6).accept();
}

Rule& tcp_to(Rule&& rule, const PairSet& set) {
  return rule.family(set.family).protocol(IPPROTO_TCP).to_pair_in(set.name, set.id, set.address_size);
}

void lead_to_the_gate(nft::Transaction& t) {
  const char* const chain = "nat";
  t.create_chain(chain, "nat", NF_INET_LOCAL_OUT, kNatPriority, NF_ACCEPT);
  // Before loopback: an address of it that an administrator listed means the host's, not the sandbox's own.
  for (const PairSet& set : kNames) tcp_to(Rule(t, chain), set).redirect(kConnectionsPort);
  accept_loopback(t, chain);
  for (const uint8_t protocol : {IPPROTO_UDP, IPPROTO_TCP}) {
    Rule(t, chain).protocol(protocol).to_port(kDnsPort).redirect(kDnsPort);
  }
  for (const PairSet& set : kClosed) tcp_to(Rule(t, chain), set).accept();  // on to the next chain, which refuses it
  for (const PairSet& set : kOpen) tcp_to(Rule(t, chain), set).redirect(kConnectionsPort);
}

// A refusal is a packet of its own, which passes this chain too: as part of a known connection.
void refuse_the_rest(nft::Transaction& t) {
  if (!gate_keeps(GateControl::kRefusal)) return;
  const char* const chain = "out";
  t.create_chain(chain, "filter", NF_INET_LOCAL_OUT, 0, NF_DROP);
  accept_loopback(t, chain);
  Rule(t, chain).belongs_to_known_connection().accept();
  const auto note = [&](uint8_t protocol, const PairSet& set) {
    Rule(t, chain).family(set.family).protocol(protocol).note_pair(set.name, set.id, set.address_size);
  };
  for (const PairSet& set : kRefused) note(IPPROTO_TCP, set);
  for (const PairSet& set : kRefusedUdp) note(IPPROTO_UDP, set);
  Rule(t, chain).protocol(IPPROTO_TCP).reject_with_reset();  // an ICMP error would let connect() hang
  Rule(t, chain).reject_as_prohibited();
}

Result<Fd> set_rules() {
  BJ_TRY(Fd socket, netlink_socket(NETLINK_NETFILTER));
  nft::Transaction t(kTable);
  t.create_table();
  for (const auto& sets : {kNames, kClosed, kOpen}) {
    for (const PairSet& set : sets) t.create_pair_set(set.name, set.id, set.address_size);
  }
  for (const auto& sets : {kRefused, kRefusedUdp}) {
    for (const PairSet& set : sets) t.create_noting_set(set.name, set.id, set.address_size, kMostRefused);
  }
  lead_to_the_gate(t);
  refuse_the_rest(t);
  BJ_CHECK(t.commit(socket.get(), "rules of the gate"));
  return socket;
}

// Both families, on every address inside. Without SO_REUSEADDR and SO_REUSEPORT: nobody inside can bind it as well.
Result<Fd> listener(int type, uint16_t port) {
  Fd fd(::socket(AF_INET6, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.ok()) return fail_errno("socket(listener)");
  const int off = 0, on = 1;
  if (::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) != 0) return fail_errno("setsockopt(V6ONLY)");
  for (const int buffer : {SO_RCVBUF, SO_SNDBUF}) {  // of what is accepted, too
    if (::setsockopt(fd.get(), SOL_SOCKET, buffer, &kBufferBytes, sizeof kBufferBytes) != 0)
      return fail_errno("setsockopt(buffer)");
  }
  sockaddr_in6 any{};
  any.sin6_family = AF_INET6;
  any.sin6_port = htons(port);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any) != 0) return fail_errno("bind(listener)");
  if (type == SOCK_STREAM && ::listen(fd.get(), kBacklog) != 0) return fail_errno("listen");
  // An answer must come from the address that was asked, or connection tracking doesn't know it.
  if (type == SOCK_DGRAM && ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof on) != 0) {
    return fail_errno("setsockopt(RECVPKTINFO)");
  }
  return fd;
}

}  // namespace

Result<GateEndpoints> furnish_gated_network() {
  GateEndpoints ends;
  BJ_CHECK(set_addresses());
  BJ_TRY(ends.rules, set_rules());
  BJ_TRY(ends.connections, listener(SOCK_STREAM, kConnectionsPort));
  BJ_TRY(ends.dns_streams, listener(SOCK_STREAM, kDnsPort));
  BJ_TRY(ends.dns_packets, listener(SOCK_DGRAM, kDnsPort));
  return ends;
}

}  // namespace bj
