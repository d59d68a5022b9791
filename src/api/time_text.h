// Times as APIs write them: 2026-01-31T12:00:00.000000Z, of microseconds since the epoch.
#pragma once

#include <cstdint>
#include <string>

namespace bj {

std::string time_text(int64_t microseconds);

}  // namespace bj
