// Netlink requests, several in one datagram: the kernel answers each before the send returns, so nothing here waits.
// libmnl only encodes.
#pragma once

#include <libmnl/libmnl.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/fd.h"

namespace bj {

// In the network namespace of the caller, for good. protocol: NETLINK_ROUTE, NETLINK_NETFILTER.
Result<Fd> netlink_socket(int protocol);

class NetlinkBatch {
 public:
  NetlinkBatch() : buffer_(kCapacity) {}

  // Write the message's body with libmnl, then add() it. Bodies are small; the whole batch stays below kCapacity.
  nlmsghdr* begin(uint16_t type, uint16_t flags);
  void add(const nlmsghdr* message) { used_ += MNL_ALIGN(message->nlmsg_len); }
  // Fails with the first refusal, named by `what`. The batch is empty afterwards.
  Result<void> send(int socket, const std::string& what);
  // The same for a request that is answered with data: each message of it, as long as the call.
  Result<void> ask(int socket, const std::string& what, const std::function<void(const nlmsghdr*)>& take);
  // Room for at least one more message of that size.
  bool has_room(size_t size) const { return used_ + size <= kCapacity; }

 private:
  Result<void> read_answers(int socket, const std::string& what, const std::function<void(const nlmsghdr*)>& take);

  static constexpr size_t kCapacity = 65536;
  std::vector<char> buffer_;
  size_t used_ = 0;
  uint32_t sequence_ = 1;
  unsigned acknowledgements_ = 0;
};

}  // namespace bj
