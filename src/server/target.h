// The request target: which path and query it names, percent-decoding. Pure, and fuzzed: every byte is a stranger's.
#pragma once

#include <string>
#include <string_view>

#include "server/request.h"

namespace bj {

struct RequestTarget {
  std::string_view authority;  // of the absolute form ("http://host:port/path"), else empty
  std::string_view path;       // begins with a slash, still encoded
  std::string_view query;      // without its question mark, still encoded
};

// Refers to `text`. Takes the origin form ("/path?query") and the absolute form; everything else fails.
Result<RequestTarget> parse_target(std::string_view text);

// Fails for half an escape, and for what is not UTF-8 or has control characters once decoded.
Result<std::string> percent_decoded(std::string_view text);

// "a=1&a=2&b" in its order; a plus is a space.
Result<Parameters> parse_query(std::string_view query);

}  // namespace bj
