// Slows down peers that keep sending wrong keys. Keys are too long to be guessed; what this saves is the work and the
// log lines of a client gone wrong.
//
// Many clients may share an address (a proxy, this machine), so a credential that was good before is let through while
// its neighbours are held off. Bounded: the peers that were quiet for longest are forgotten first.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>

#include "base/async.h"

namespace bj {

class AuthThrottle {
 public:
  static constexpr int kMostFailures = 20;
  static constexpr auto kWindow = std::chrono::seconds(10);
  static constexpr size_t kMostPeers = 1024;

  bool holds_off(const std::string& peer, std::string_view credential, Clock::time_point now) const;
  void failed(const std::string& peer, Clock::time_point now);
  void succeeded(const std::string& peer, std::string_view credential);
  size_t peers() const { return failing_.size(); }

 private:
  struct Failing {
    int failures = 0;
    Clock::time_point since;
  };
  void forget_old(Clock::time_point now);

  std::map<std::string, Failing> failing_;
  // Hashes of (peer, credential), the latest first: letting one through by chance only costs a check.
  using Latest = std::array<size_t, 8>;
  static size_t place_of(size_t mark) { return mark / 2 % 128; }

  std::array<Latest, 128> good_{};
};

}  // namespace bj
