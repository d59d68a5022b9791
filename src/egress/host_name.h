// Host names from policies, DNS questions, SNI, Host headers and proxy requests, in the one form in which they are
// compared: lower case, without the trailing dot, ASCII letters, digits, hyphens and underscores, labels of 1 to 63
// bytes, 253 in all. International names are written in their xn-- form; other bytes are refused, not converted.
// What a resolver could take for an address ("127.1", "0x7f.1", "2130706433", "1.2.3.4", "[::1]") is no name.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace bj {

// The message of a failure says what is wrong with it. At most one trailing dot is taken off.
Result<std::string> normalize_host_name(std::string_view text);

// True if inet_aton() could read the text as an address: its last label is a number (decimal, octal, hexadecimal).
bool looks_like_address(std::string_view text);

// `name` lies below `suffix`: "a.b.example.com" and "b.example.com" below "example.com", "example.com" and
// "evilexample.com" not. Both normalized.
bool is_below(std::string_view name, std::string_view suffix);

}  // namespace bj
