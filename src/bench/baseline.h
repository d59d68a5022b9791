// The other side of each comparison, measured in the same run by the same process.
#pragma once

#include <string>
#include <vector>

#include "base/async.h"
#include "bench/sample.h"

namespace bj {

// Starts a host program with nothing on its stdio and waits for its end; the time it took, or an error if it failed.
Task<Result<double>> spawn_and_wait(asio::any_io_executor executor, std::vector<std::string> arguments);

inline const std::vector<std::string> kBarePython = {"/usr/bin/python3", "-I", "-S", "-c", "pass"};

}  // namespace bj
