// Real addresses of names, asked of the host's own resolver (getaddrinfo: hosts file, DNS, whatever it is set up for).
//
// It can block for as long as a name server likes, so each question has a thread of its own, which nobody waits for at
// the end: the threads are few, and know nothing but their question. A gate has a resolver and a share of the threads:
// whoever runs a slow name server holds up nobody else. Questions beyond the share wait for their turn.
//
// Stays on its executor's thread; what it started may outlive it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/async.h"
#include "base/change.h"
#include "egress/ip_address.h"

namespace bj {

class NameResolver {
 public:
  using Addresses = std::vector<IpAddress>;
  // Blocks; called on a thread of its own.
  using Ask = std::function<Result<Addresses>(const std::string& name)>;

  explicit NameResolver(const asio::any_io_executor& executor);
  NameResolver(const asio::any_io_executor& executor, Ask ask);

  // Answers within kPatience, its turn included. Code::kExhausted when too many are being asked for already.
  Task<Result<Addresses>> resolve(std::string name);

  static constexpr auto kPatience = std::chrono::seconds(10);
  static constexpr int kMostThreads = 128;  // of the process
  static constexpr int kShare = 8;          // of one resolver

 private:
  Task<bool> turn(Clock::time_point deadline);

  Ask ask_;
  std::shared_ptr<std::atomic<int>> asking_ = std::make_shared<std::atomic<int>>(0);
  Change answered_;  // told with each answer
};

}  // namespace bj
