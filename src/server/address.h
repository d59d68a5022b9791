// Where the server listens, and which Host and Origin headers it believes.
//
// A page in a browser can make any name point to this machine (DNS rebinding) and send requests to it from any site. So
// a request must name this server as its Host, and what changes something, or opens a WebSocket, must not come from the
// page of another site.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace bj {

struct ServerAddress {
  std::string host = "127.0.0.1";  // an IP address
  uint16_t port = 8090;

  bool is_loopback() const;
  std::string text() const;  // "127.0.0.1:8090", "[::1]:8090"
};

// "127.0.0.1:8090", "[::1]:8090", "localhost:8090", "0.0.0.0:8090".
Result<ServerAddress> parse_address(const std::string& text);

struct SitePolicy {
  std::vector<std::string> host_names;  // beside the loopback's names and the address itself: "belljar.example.org"
  std::vector<std::string> origins;     // other sites' pages that may call: "https://console.example.org"
  std::string domain{};                 // below which sandboxes have host names: "sandboxes.example.org"; empty: none
};

// The name in a Host header without its port, in lower case; empty if it is malformed. IPv6 keeps its brackets.
std::string host_name(std::string_view host);

// `local` is the IP address at which the request arrived.
bool host_is_ours(const SitePolicy& policy, std::string_view host, std::string_view local);
// `host` is the request's Host header. A missing Origin (no browser) is fine.
bool origin_is_ours(const SitePolicy& policy, std::string_view origin, std::string_view host);

}  // namespace bj
