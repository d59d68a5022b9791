// What all flows of a sandbox pass together, and its caps: bytes over its life end the flow that goes beyond, bytes a
// second let reads wait (nothing is dropped: the sender's own window closes).
//
// Stays on the gate's thread.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "base/async.h"
#include "egress/policy.h"
#include "egress/rate_limit.h"

namespace bj {

class FlowTotals {
 public:
  // A cap's name and what it did, when it is felt for the first time.
  using CapListener = std::function<void(const std::string& cap, const std::string& what)>;
  using Now = std::function<Clock::time_point()>;

  explicit FlowTotals(CapListener listener, Now now = Clock::now)
      : listener_(std::move(listener)), now_(std::move(now)) {}

  // From now on. What was passed already counts.
  void keep(const NetworkCaps& caps);

  // How many bytes may be read from there now, at most `most`; waits while that is none. 0: it was closed meanwhile.
  Task<size_t> room(asio::ip::tcp::socket& from, size_t most);
  // Bytes that were read. False: beyond a cap, to be passed to nobody.
  bool count_sent(uint64_t bytes);
  bool count_received(uint64_t bytes);
  // Whether a connection may be taken now, which is then counted; or when to ask again.
  std::optional<Clock::time_point> delay_connection();
  // A cap did something: the first time it is told. Also for those that the gate keeps itself.
  void felt(const char* cap, const char* what);

 private:
  bool within(uint64_t total, const std::optional<uint64_t>& most, const char* cap);

  CapListener listener_;
  Now now_;
  NetworkCaps caps_;
  uint64_t sent_ = 0, received_ = 0;  // as the sandbox sees it
  std::optional<RateLimit> bytes_, connections_;
  std::set<std::string> told_;
};

}  // namespace bj
