#include "launcher/network_pool.h"

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstring>
#include <string>

#include "sys/files.h"
#include "sys/mount.h"

namespace bj {
namespace {

constexpr const char* kLowestPort = "sys/net/ipv4/ip_unprivileged_port_start";
constexpr size_t kNetworksOfProc = 64;

Result<Fd> current_network() { return open_path("/proc/self/ns/net", O_RDONLY); }

Result<void> loopback_up() {
  const Fd s(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!s.ok()) return fail_errno("socket");
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  if (::ioctl(s.get(), SIOCSIFFLAGS, &request) != 0) return fail_errno("ioctl(lo up)");
  return {};
}

}  // namespace

Result<void> Network::enter() const {
  if (::setns(ns_.get(), CLONE_NEWNET) != 0) return fail_errno("setns(network)");
  return {};
}

Result<NetworkPool> NetworkPool::create() {
  if (::unshare(CLONE_NEWNET) != 0) return fail_errno("unshare(CLONE_NEWNET)");
  BJ_TRY(Fd home, current_network());
  return NetworkPool(Network(std::move(home)));
}

Result<Network> NetworkPool::home() const {
  BJ_CHECK(home_.enter());
  BJ_TRY(Fd ns, current_network());
  return Network(std::move(ns));
}

// The namespace is not the sandbox's own, so its root holds no capability over it: let it bind port 80 all the same.
Result<void> NetworkPool::unshare_for_sandbox() {
  if (::unshare(CLONE_NEWNET) != 0) return fail_errno("unshare(CLONE_NEWNET)");
  return allow_low_ports();
}

// A proc filesystem remembers this file of every namespace under one name and looks through all of them to find ours.
// So we have one that knows few; where it can't be mounted (without root) it is the launcher's.
Result<void> NetworkPool::allow_low_ports() {
  if (seen_by_proc_++ % kNetworksOfProc == 0) proc_ = new_filesystem("proc", {}, 0).value_or(Fd());
  if (!proc_.ok()) return put_text(AT_FDCWD, std::string("/proc/") + kLowestPort, "0");
  return put_text(proc_.get(), kLowestPort, "0");
}

Result<Network> NetworkPool::make() {
  Result<void> done = unshare_for_sandbox();
  if (done) done = loopback_up();
  Result<Fd> ns = current_network();
  BJ_CHECK(home_.enter());
  if (!done) return tl::unexpected(done.error());
  if (!ns) return tl::unexpected(ns.error());
  return Network(std::move(*ns));
}

Result<GatedNetwork> NetworkPool::make_gated() {
  Result<GateEndpoints> ends = fail(Code::kInternal, "");
  if (const Result<void> done = unshare_for_sandbox(); done) {
    ends = furnish_gated_network();
  } else {
    ends = tl::unexpected(done.error());
  }
  Result<Fd> ns = current_network();
  BJ_CHECK(home_.enter());
  if (!ends) return tl::unexpected(ends.error());
  if (!ns) return tl::unexpected(ns.error());
  return GatedNetwork{Network(std::move(*ns)), std::move(*ends)};
}

#ifdef BELLJAR_TEST_SWITCHES
Result<GateEndpoints> NetworkPool::furnish_network_of(int pid) const {
  BJ_TRY(Fd ns, open_path("/proc/" + std::to_string(pid) + "/ns/net", O_RDONLY));
  BJ_CHECK(Network(std::move(ns)).enter());
  Result<GateEndpoints> ends = furnish_gated_network();
  BJ_CHECK(go_home());
  return ends;
}
#endif

void NetworkPool::prepare_one() {
  if (ready_.size() < kAhead) {
    Result<Network> network = make();
    broken_ = !network;
    if (network) ready_.push_back(std::move(*network));
  } else {
    Result<GatedNetwork> network = make_gated();
    if (!network) gated_ahead_ = 0;
    if (network) gated_.push_back(std::move(*network));
  }
}

Result<Network> NetworkPool::take() {
  if (ready_.empty()) {
    Result<Network> made = make();
    broken_ = !made;  // where one could be made again, so can others, ahead
    return made;
  }
  Network network = std::move(ready_.back());
  ready_.pop_back();
  return network;
}

Result<GatedNetwork> NetworkPool::take_gated() {
  gated_ahead_ = kGatedAhead;
  if (gated_.empty()) return make_gated();
  GatedNetwork network = std::move(gated_.back());
  gated_.pop_back();
  return network;
}

}  // namespace bj
