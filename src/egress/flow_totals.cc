#include "egress/flow_totals.h"

#include <algorithm>

namespace bj {
namespace {

// Then it is looked again whether the flow still lives.
constexpr auto kLongestWait = std::chrono::milliseconds(250);

}  // namespace

void FlowTotals::keep(const NetworkCaps& caps) {
  const auto limit = [this](const std::optional<uint64_t>& per_second) -> std::optional<RateLimit> {
    if (!per_second) return {};
    return RateLimit(*per_second, now_());
  };
  // A policy that is set again must not fill the bucket again.
  if (caps.bytes_per_second != caps_.bytes_per_second) bytes_ = limit(caps.bytes_per_second);
  if (caps.connections_per_second != caps_.connections_per_second) connections_ = limit(caps.connections_per_second);
  caps_ = caps;
  told_.clear();
}

void FlowTotals::felt(const char* cap, const char* what) {
  if (told_.insert(cap).second && listener_) listener_(cap, what);
}

Task<size_t> FlowTotals::room(asio::ip::tcp::socket& from, size_t most) {
  while (bytes_) {
    if (!from.is_open()) co_return 0;
    const uint64_t available = bytes_->available(now_());
    if (available > 0) co_return static_cast<size_t>(std::min<uint64_t>(most, available));
    felt("bytes_per_second", "slowed down");
    asio::steady_timer turn(from.get_executor(), std::min(bytes_->next_turn(), Clock::now() + kLongestWait));
    if (!co_await expired(turn)) co_return 0;
  }
  co_return most;
}

bool FlowTotals::within(uint64_t total, const std::optional<uint64_t>& most, const char* cap) {
  if (!most || total <= *most) return true;
  felt(cap, "connections ended");
  return false;
}

bool FlowTotals::count_sent(uint64_t bytes) {
  if (bytes_) bytes_->take(bytes);
  sent_ += bytes;
  return within(sent_, caps_.bytes_sent, "bytes_sent");
}

bool FlowTotals::count_received(uint64_t bytes) {
  if (bytes_) bytes_->take(bytes);
  received_ += bytes;
  return within(received_, caps_.bytes_received, "bytes_received");
}

std::optional<Clock::time_point> FlowTotals::delay_connection() {
  if (!connections_) return {};
  if (connections_->available(now_()) == 0) {
    felt("connections_per_second", "delayed");
    return connections_->next_turn();
  }
  connections_->take(1);
  return {};
}

}  // namespace bj
