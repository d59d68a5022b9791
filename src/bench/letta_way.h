// How Letta's own server runs a tool on its machine, as a baseline: a script is generated and written to a file, a
// fresh Python runs it, and the result is looked for in its stdout. What the sandbox's Python lacks there (letta,
// letta_client) is missing here too, which only makes it faster.
#pragma once

#include <string>

#include "base/async.h"

namespace bj {

struct LettaWay {
  std::string directory;  // where the script is written and run
  std::string packages;   // site-packages with pydantic
};

// One call of add(2, 3): the time from its script to its parsed result.
Task<Result<double>> call_letta_way(asio::any_io_executor executor, LettaWay way);

}  // namespace bj
