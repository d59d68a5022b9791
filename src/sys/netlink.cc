#include "sys/netlink.h"

#include <linux/netlink.h>
#include <sys/socket.h>

namespace bj {

Result<Fd> netlink_socket(int protocol) {
  Fd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol));
  if (!fd.ok()) return fail_errno("socket(netlink)");
  const int on = 1;
  (void)::setsockopt(fd.get(), SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof on);  // answers without the question
  return fd;
}

nlmsghdr* NetlinkBatch::begin(uint16_t type, uint16_t flags) {
  nlmsghdr* header = mnl_nlmsg_put_header(buffer_.data() + used_);
  header->nlmsg_type = type;
  header->nlmsg_flags = static_cast<uint16_t>(NLM_F_REQUEST | flags);
  header->nlmsg_seq = sequence_++;
  if ((flags & NLM_F_ACK) != 0) ++acknowledgements_;
  return header;
}

Result<void> NetlinkBatch::send(int socket, const std::string& what) { return ask(socket, what, nullptr); }

Result<void> NetlinkBatch::ask(int socket, const std::string& what, const std::function<void(const nlmsghdr*)>& take) {
  sockaddr_nl kernel{};
  kernel.nl_family = AF_NETLINK;
  const ssize_t sent =
      ::sendto(socket, buffer_.data(), used_, 0, reinterpret_cast<const sockaddr*>(&kernel), sizeof kernel);
  const Result<void> done =
      sent < 0 ? Result<void>(fail_errno("netlink(" + what + ")")) : read_answers(socket, what, take);
  used_ = 0;
  acknowledgements_ = 0;
  return done;
}

Result<void> NetlinkBatch::read_answers(int socket, const std::string& what,
                                        const std::function<void(const nlmsghdr*)>& take) {
  alignas(nlmsghdr) char reply[16384];
  Result<void> outcome;
  for (;;) {
    const ssize_t size = ::recv(socket, reply, sizeof reply, MSG_DONTWAIT);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) break;
    if (size < 0) return fail_errno("netlink(" + what + ")");
    int rest = static_cast<int>(size);
    for (auto* header = reinterpret_cast<nlmsghdr*>(reply); mnl_nlmsg_ok(header, rest);
         header = mnl_nlmsg_next(header, &rest)) {
      if (header->nlmsg_type >= NLMSG_MIN_TYPE && take) take(header);
      if (header->nlmsg_type != NLMSG_ERROR) continue;
      const auto* answer = static_cast<const nlmsgerr*>(mnl_nlmsg_get_payload(header));
      if (answer->error != 0 && outcome) {
        outcome = fail_with(-answer->error, "netlink(" + what + ", message " + std::to_string(header->nlmsg_seq) + ")");
      }
      if (acknowledgements_ > 0) --acknowledgements_;
    }
  }
  if (outcome && acknowledgements_ != 0) return fail(Code::kInternal, "netlink(" + what + "): answers are missing");
  return outcome;
}

}  // namespace bj
