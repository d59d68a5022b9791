#include "sys/rtnetlink.h"

#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <net/if.h>

namespace bj::rt {
namespace {

constexpr uint16_t kCreate = NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL;

}  // namespace

void set_link_up(NetlinkBatch& batch, int index) {
  nlmsghdr* header = batch.begin(RTM_NEWLINK, NLM_F_ACK);
  auto* link = static_cast<ifinfomsg*>(mnl_nlmsg_put_extra_header(header, sizeof(ifinfomsg)));
  link->ifi_family = AF_UNSPEC;
  link->ifi_index = index;
  link->ifi_flags = IFF_UP;
  link->ifi_change = IFF_UP;
  batch.add(header);
}

void add_address(NetlinkBatch& batch, int family, std::span<const uint8_t> address) {
  nlmsghdr* header = batch.begin(RTM_NEWADDR, kCreate);
  auto* message = static_cast<ifaddrmsg*>(mnl_nlmsg_put_extra_header(header, sizeof(ifaddrmsg)));
  message->ifa_family = static_cast<uint8_t>(family);
  message->ifa_prefixlen = static_cast<uint8_t>(address.size() * 8);
  message->ifa_index = kLoopback;
  message->ifa_flags = IFA_F_NODAD;
  mnl_attr_put(header, IFA_LOCAL, address.size(), address.data());
  mnl_attr_put(header, IFA_ADDRESS, address.size(), address.data());
  batch.add(header);
}

void add_default_route(NetlinkBatch& batch, int family, std::span<const uint8_t> source) {
  nlmsghdr* header = batch.begin(RTM_NEWROUTE, kCreate);
  auto* route = static_cast<rtmsg*>(mnl_nlmsg_put_extra_header(header, sizeof(rtmsg)));
  route->rtm_family = static_cast<uint8_t>(family);
  route->rtm_table = RT_TABLE_MAIN;
  route->rtm_protocol = RTPROT_STATIC;
  route->rtm_scope = RT_SCOPE_LINK;
  route->rtm_type = RTN_UNICAST;
  mnl_attr_put_u32(header, RTA_OIF, kLoopback);
  mnl_attr_put(header, RTA_PREFSRC, source.size(), source.data());
  batch.add(header);
}

}  // namespace bj::rt
