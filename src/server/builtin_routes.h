// The routes that every server has: / for people, /health, /metrics, /openapi.json and /docs.
//
// /, /health and /docs want no key: they tell nothing but that Belljar is here. /metrics and /openapi.json want one, of
// any role, unless the server listens on loopback only.
#pragma once

#include <string>

#include "server/metrics.h"
#include "server/router.h"

namespace bj {

struct HealthFacts {
  std::string version;
  bool seal_full = false;
};

// Both must outlive the routes; routes added later are in /openapi.json too.
void add_builtin_routes(Router& router, Metrics& metrics, const HealthFacts& facts);

}  // namespace bj
