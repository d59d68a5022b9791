// Ports of sandboxes, seen from outside: http://PORT-ID.HOST/ or /v1/sandboxes/ID/ports/PORT/, HTTP and WebSocket,
// passed through the warden's connect. Private ones want a token: in a header, in a link (?belljar_token=), which
// leaves it in a cookie, or, in the path's form, a key of the sandbox's organization.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "api/preview/upstream.h"
#include "control/sandbox_manager.h"
#include "control/sandbox_tokens.h"
#include "server/http_server.h"

namespace bj::preview {

// What the handlers work on. All of it must outlive the server.
struct Services {
  SandboxManager& manager;
  const SandboxTokens& tokens;
  Authenticate authenticate;
  std::function<int64_t()> now;  // seconds since the epoch
};

// Whether the request may use the sandbox's ports: nothing, or what it is answered instead.
Task<std::optional<HttpResponse>> refusal(Services services, const HttpRequest& request, const Traffic& traffic,
                                          const SandboxRow& row);

// Passes the request on to its port. `host`: what its Host header says inside; empty: what the client sent.
Task<HttpResponse> pass(std::shared_ptr<HeldSandbox> sandbox, HttpRequest& request, const Traffic& traffic,
                        std::string host, Speaks speaks);

// There is no such sandbox, or it does not run: 502, a page for browsers.
HttpResponse not_found(const HttpRequest& request, const Traffic& traffic);

// GET /v1/sandboxes/{sandbox_id}/url: where a port is found, with a token if it needs one.
struct UrlOptions {
  std::string domain;  // "sandboxes.example.org:8443"
  bool secure = false;
};
void add_routes(Router& router, const Services& services, const UrlOptions& options);

}  // namespace bj::preview
