// Requests for a file that depend on when it was changed: Last-Modified in the answer, If-Modified-Since,
// If-Unmodified-Since and If-Range in the request (RFC 9110). Times are whole seconds.
#pragma once

#include <cstdint>
#include <string>

#include "server/headers.h"

namespace bj {

// "Wed, 18 Nov 2026 13:15:57 GMT".
std::string http_date(int64_t microseconds);

enum class Condition { kHolds, kNotModified, kFailed };  // the file; 304; 412
// What is no date is no condition.
Condition condition_of(const Headers& request, int64_t modified_us);

// Whether the request's Range is meant for the file as it is now, not for one that If-Range names.
bool range_counts(const Headers& request, int64_t modified_us);

}  // namespace bj
