// Upgrades a connection to a WebSocket and lets `talk` use it. Internal to the server: its source is one of the two
// that include Beast.
#pragma once

#include <functional>

#include "server/http_server.h"
#include "server/net_stream.h"

namespace bj {

// Ends when `talk` has ended and the socket is closed; an exception of talk's closes it with 1011 and is logged.
// `leave` is set to what tells the client, from another coroutine, that the server goes away, and cleared at the end.
Task<void> talk_web_socket(NetStream& stream, const HttpRequest& request, const ServerLimits& limits,
                           const std::function<Task<void>(WebSocket&)>& talk, std::function<void()>& leave);

}  // namespace bj
