#include "launcher/network_pool.h"

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstring>

#include "sys/files.h"

namespace bj {
namespace {

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
  BJ_TRY(Fd host, current_network());
  if (::unshare(CLONE_NEWNET) != 0) return fail_errno("unshare(CLONE_NEWNET)");
  BJ_TRY(Fd home, current_network());
  return NetworkPool(std::move(host), Network(std::move(home)));
}

Result<Network> NetworkPool::home() const {
  BJ_CHECK(home_.enter());
  BJ_TRY(Fd ns, current_network());
  return Network(std::move(ns));
}

Result<Network> NetworkPool::host() const {
  Fd copy(::fcntl(host_.get(), F_DUPFD_CLOEXEC, 0));
  if (!copy.ok()) return fail_errno("fcntl(F_DUPFD_CLOEXEC)");
  return Network(std::move(copy));
}

Result<Network> NetworkPool::make() const {
  if (::unshare(CLONE_NEWNET) != 0) return fail_errno("unshare(CLONE_NEWNET)");
  Result<void> done = loopback_up();
  // The namespace is not the sandbox's own, so its root holds no capability over it: let it bind port 80 all the same.
  if (done) done = put_text(AT_FDCWD, "/proc/sys/net/ipv4/ip_unprivileged_port_start", "0");
  Result<Fd> ns = current_network();
  BJ_CHECK(home_.enter());
  if (!done) return tl::unexpected(done.error());
  if (!ns) return tl::unexpected(ns.error());
  return Network(std::move(*ns));
}

void NetworkPool::prepare_one() {
  if (Result<Network> network = make()) {
    ready_.push_back(std::move(*network));
  } else {
    broken_ = true;
  }
}

Result<Network> NetworkPool::take() {
  if (ready_.empty()) return make();
  Network network = std::move(ready_.back());
  ready_.pop_back();
  return network;
}

}  // namespace bj
