// Requests that are for a port of a sandbox and not for our API, told apart by their Host ("8080-sbabc.example.org"),
// by the two headers that E2B's clients send, or by their path ("/v1/sandboxes/sbabc/ports/8080/..."). Pure.
//
// A host name of a sandbox is another origin than the API's for every browser. It counts only below a name that is
// ours: a page can make a name of its own lead here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "server/address.h"
#include "server/request.h"

namespace bj {

struct Traffic {
  enum class By { kHost, kHeaders, kPath };
  By by = By::kHost;
  std::string sandbox;  // its id, of a-z and 0-9
  uint16_t port = 0;
  std::string path;  // that is asked for there, as sent, beginning with a slash
};

// Nothing: it is for the API. kInvalid: one of the two headers is missing, or a name of a sandbox is malformed.
// kDenied: it names a sandbox below a name that is not ours.
Result<std::optional<Traffic>> traffic_of(const SitePolicy& site, const HttpRequest& request);

}  // namespace bj
