// The gate as a proxy, for programs that want one: HTTP (CONNECT and absolute targets) and SOCKS5 on the gate's own
// port. Reads what the client asks for and writes the answers; who may go where is decided elsewhere.
#pragma once

#include <optional>
#include <string>

#include "base/async.h"
#include "egress/flow.h"
#include "egress/http_head.h"
#include "egress/ip_address.h"

namespace bj {

struct ProxyRequest {
  enum class Kind { kConnect, kAbsolute, kSocks };
  Kind kind = Kind::kConnect;
  std::string name;  // normalized; or
  std::optional<IpAddress> address;
  uint16_t port = 0;
  HttpHead head;  // of kAbsolute
};

// Takes the request's bytes off the connection. A failure says why it is none; the client was told if it can be.
Task<Result<ProxyRequest>> read_proxy_request(std::shared_ptr<Flow> flow);

// A request that is passed on alone: the next on its connection may be for another host or path, and must come on
// another connection. What the server is sent instead of the client's head; nothing if the body's end can't be told.
std::optional<std::string> single_request(const HttpHead& head);

// Takes bytes off the connection that were peeked at.
void take(Flow& flow, size_t size);

// An answer of the gate's own, after which the connection ends: "403 Forbidden" and why, for the program to show.
std::string http_refusal(const char* status, const std::string& reason);

enum class ProxyOutcome { kConnected, kDenied, kFailed };
// What the client is told before bytes flow, or before it is hung up on.
std::string proxy_answer(const ProxyRequest& request, ProxyOutcome outcome, const std::string& reason);

}  // namespace bj
