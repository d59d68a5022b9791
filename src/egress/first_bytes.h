// What a program's first bytes say about where it wants to go: TLS with a name, HTTP with a host, or something else.
// Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "egress/client_hello.h"
#include "egress/http_head.h"

namespace bj {

struct FirstBytes {
  enum class Kind { kNeedMore, kTls, kHttp, kOther, kRefused };
  Kind kind = Kind::kNeedMore;
  std::optional<std::string> name;  // that the bytes speak of
  bool encrypted_hello = false;
  HttpHead head;       // of kHttp
  std::string reason;  // of kRefused
};

inline constexpr size_t kMostFirstBytes = kMaxClientHello;

FirstBytes read_first_bytes(std::string_view bytes);

// May a connection that was made to `name` go on with these? Otherwise the reason.
std::optional<std::string> contradiction(const FirstBytes& bytes, const std::string& name);

}  // namespace bj
