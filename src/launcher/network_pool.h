// Network namespaces made ahead of their sandboxes: loopback up, nothing else. They belong to the launcher's user
// namespace, so that even root with every capability inside a sandbox can't change them. Those with a gate are made
// ahead only once somebody has asked for one.
#pragma once

#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "launcher/gated_network.h"

namespace bj {

class Network {
 public:
  explicit Network(Fd ns) : ns_(std::move(ns)) {}
  Result<void> enter() const;

 private:
  Fd ns_;
};

struct GatedNetwork {
  Network network;
  GateEndpoints ends;
};

class NetworkPool {
 public:
  // Moves the calling process into an empty network namespace of its own ("home").
  static Result<NetworkPool> create();

  bool wants_more() const { return !broken_ && (ready_.size() < kAhead || gated_.size() < gated_ahead_); }
  void prepare_one();
  Result<Network> take();
  Result<GatedNetwork> take_gated();
  Result<Network> home() const;
  Result<void> go_home() const { return home_.enter(); }
#ifdef BELLJAR_TEST_SWITCHES
  // A gate before a network namespace that the process owns itself: what GateControl::kOwnership is there to prevent.
  Result<GateEndpoints> furnish_network_of(int pid) const;
#endif

 private:
  explicit NetworkPool(Network home) : home_(std::move(home)) {}
  Result<void> unshare_for_sandbox();
  Result<void> allow_low_ports();
  Result<Network> make();
  Result<GatedNetwork> make_gated();

  static constexpr size_t kAhead = 8, kGatedAhead = 2;
  Network home_;
  Fd proc_;  // a proc filesystem of our own; none: the launcher's
  size_t seen_by_proc_ = 0;
  std::vector<Network> ready_;
  std::vector<GatedNetwork> gated_;
  size_t gated_ahead_ = 0;
  bool broken_ = false;  // making one failed: tried again only when one is asked for
};

}  // namespace bj
