// Real addresses of names, asked of the host's own resolver (getaddrinfo: hosts file, DNS, whatever it is set up for).
//
// It can block for as long as a name server likes, so each question has a thread of its own, which nobody waits for at
// the end: the threads are few, and know nothing but their question.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/async.h"
#include "egress/ip_address.h"

namespace bj {

class NameResolver {
 public:
  // Answers within kPatience. Code::kExhausted when too many are being asked for already.
  static Task<Result<std::vector<IpAddress>>> resolve(std::string name);

  static constexpr auto kPatience = std::chrono::seconds(10);
  static constexpr int kMostThreads = 64;
};

}  // namespace bj
