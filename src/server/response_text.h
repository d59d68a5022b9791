// A response's header as it goes over the wire.
#pragma once

#include <string>

#include "server/request.h"
#include "server/response.h"

namespace bj {

enum class Framing {
  kLength,   // Content-Length
  kChunked,  //
  kToEnd,    // until the connection closes (streams of HTTP/1.0)
  kNone,     // no body and no word about one
};
enum class Ending { kKeepAlive, kClose, kUpgrade };

std::string header_text(const HttpResponse& response, const HttpRequest& request, Framing framing, Ending ending);

}  // namespace bj
