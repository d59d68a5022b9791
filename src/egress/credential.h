// A secret that the gate puts into requests on their way out, so that code in the sandbox never holds it. It is bound
// to places: over TLS that the gate opens (gate.h), to these hosts only, and if asked for to some methods and paths. A
// request elsewhere, over plain HTTP or after a redirect to another host goes out as the code wrote it.
//
// Plain data; shared between threads once made.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/secret.h"
#include "egress/policy.h"

namespace bj {

struct GateCredential {
  enum class Place { kHeader, kQuery, kBody };

  std::string name;                     // for receipts, never the value
  std::shared_ptr<const Secret> value;  // never null; empty: the format alone is given, which is no secret
  std::vector<Target> hosts;            // names only (kName, kBelow); none: it is never used
  std::vector<PortRange> ports{{443, 443}};
  std::optional<std::vector<std::string>> methods;  // absent: any
  std::optional<std::vector<std::string>> paths;    // "/exact" or "/prefix/*"; absent: any
  Place place = Place::kHeader;
  std::string field;          // the header's or query parameter's name; of kBody unused
  std::string format = "{}";  // what is put there, "{}" being the value: "Bearer {}"
  // What the code has instead of the value. Only where this text stands in the place, the value takes its turn. Empty:
  // the code has nothing, and the gate sets the field itself, over what the code wrote. Never empty for kBody.
  std::string placeholder;
};

using GateCredentials = std::vector<GateCredential>;

}  // namespace bj
