// Sizes and times as people write them: 512M, 1G; 500ms, 30s, 2m.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"

namespace bj {

// Bytes. K, M, G and T are powers of 1024, with or without "B" or "iB"; a number alone is bytes.
Result<uint64_t> parse_size(const std::string& text);
// Milliseconds. ms, s, m, h; a number alone is seconds.
Result<uint64_t> parse_duration_ms(const std::string& text);
// A whole number without a unit.
Result<uint64_t> parse_count(const std::string& text);
// A decimal number without a unit.
Result<double> parse_decimal(const std::string& text);

std::string format_size(uint64_t bytes);            // "512 MiB"
std::string format_duration(uint64_t duration_ms);  // "1.5 s"

}  // namespace bj
