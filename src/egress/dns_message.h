// DNS as a sandbox's programs speak it to us: a decoder of hostile queries and an encoder of our answers. Nothing is
// ever passed on to another server, so there is no decoder of answers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "egress/ip_address.h"

namespace bj {

namespace dns {
inline constexpr uint16_t kTypeA = 1, kTypeAaaa = 28, kClassIn = 1;
inline constexpr size_t kMaxQuery = 4096;   // bytes of a query that is looked at, UDP or TCP
inline constexpr uint16_t kUdpSize = 1232;  // that we announce, and the most we send over UDP
}  // namespace dns

enum class DnsCode : uint8_t { kNoError = 0, kFormErr = 1, kServFail = 2, kNxDomain = 3, kNotImp = 4, kRefused = 5 };
enum class DnsTransport { kUdp, kTcp };

struct DnsEdns {
  uint16_t udp_size = 512;
  uint8_t version = 0;
  bool dnssec_ok = false;
};

struct DnsQuery {
  uint16_t id = 0;
  bool recursion_desired = false;
  bool checking_disabled = false;
  std::string name;  // as asked, labels joined by dots, no trailing dot; "" is the root. May hold any byte but '.'
                     // and NUL: pass it to decide_name, which refuses what is no host name
  uint16_t type = 0;
  uint16_t klass = 0;
  std::string question;  // the wire form, uncompressed, in the case it was asked: repeated in the answer
  std::optional<DnsEdns> edns;

  bool asks_for_address() const { return klass == dns::kClassIn && (type == dns::kTypeA || type == dns::kTypeAaaa); }
};

// kQuery: answer it. kFault: send `fault` as it is. kDrop: not even an error may be sent (too short, or an answer).
struct DnsReading {
  enum class Status { kQuery, kFault, kDrop };
  Status status = Status::kDrop;
  DnsQuery query;
  std::string fault;   // a complete message, without the length of TCP
  std::string reason;  // of a fault or drop, for events
};
DnsReading read_dns_query(std::string_view message);

// NOERROR without addresses is "the name exists, there is no such record": right for HTTPS, SVCB, SRV, TXT, ANY and the
// rest. Addresses of the other family than asked for are left out. Over UDP an answer that does not fit is cut to its
// question and marked truncated.
struct DnsAnswer {
  DnsCode code = DnsCode::kNoError;
  std::vector<IpAddress> addresses;
  uint32_t ttl_seconds = 60;
};
std::string write_dns_answer(const DnsQuery& query, const DnsAnswer& answer, DnsTransport transport);

// TCP: two bytes of length before each message.
struct DnsFrame {
  enum class Status { kNeedMore, kMessage, kBad };
  Status status = Status::kNeedMore;
  std::string_view message;  // into the buffer
  size_t used = 0;           // bytes of the buffer that are done with
};
DnsFrame next_dns_frame(std::string_view buffer);
std::string frame_dns_message(std::string_view message);

}  // namespace bj
