// The server's side of SOCKS5 (RFC 1928) without authentication, CONNECT only. Each reader is called with all bytes
// that arrived and were not used yet, until it stops saying kNeedMore; nothing is longer than 262 bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "egress/ip_address.h"

namespace bj {

inline constexpr size_t kMaxSocks5Message = 262;

enum class Socks5Reply : uint8_t {
  kSucceeded = 0,
  kFailure = 1,
  kNotAllowed = 2,
  kNetworkUnreachable = 3,
  kHostUnreachable = 4,
  kConnectionRefused = 5,
  kCommandNotSupported = 7,
  kAddressTypeNotSupported = 8,
};

enum class Socks5Status { kNeedMore, kFound, kRefused };

// kRefused with an empty `answer`: not SOCKS5, close. Otherwise send `answer` first.
struct Socks5Greeting {
  Socks5Status status = Socks5Status::kNeedMore;
  size_t used = 0;
  std::string answer;  // of kFound: "no authentication"; of kRefused: "no acceptable method" or nothing
  std::string reason;
};
Socks5Greeting read_socks5_greeting(std::string_view bytes);

struct Socks5Request {
  Socks5Status status = Socks5Status::kNeedMore;
  size_t used = 0;
  std::string name;                  // normalized; or
  std::optional<IpAddress> address;  // the address itself, also when it was sent as a name
  uint16_t port = 0;
  std::string answer;  // of kRefused
  std::string reason;
};
Socks5Request read_socks5_request(std::string_view bytes);

// With the address 0.0.0.0:0: where the gate connects from is not the sandbox's business.
std::string socks5_reply(Socks5Reply reply);

}  // namespace bj
