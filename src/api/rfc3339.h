// Times as clients write them: RFC 3339, "2026-01-31T12:00:00.5Z" or with an offset.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace bj {

// Microseconds since the epoch. Nothing: it is no such time.
std::optional<int64_t> microseconds_of(const std::string& text);

}  // namespace bj
