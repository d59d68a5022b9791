// The name a TLS client asks for, read from the first bytes of its connection without taking part in it.
//
// Call it with all bytes so far (as MSG_PEEK gives them) until it stops saying kNeedMore. A hello may span segments and
// records. What a server could read differently from us (two names, two name extensions, lengths that don't add up) is
// kMalformed: such a connection is to be reset.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bj {

inline constexpr size_t kMaxClientHello = 32 * 1024;  // more is kMalformed, so peeking that much is enough

struct ClientHello {
  enum class Status { kNeedMore, kFound, kNotTls, kMalformed };
  Status status = Status::kNeedMore;
  // Of kFound:
  std::optional<std::string> server_name;  // normalized. Absent: no SNI; the gate must not guess
  std::vector<std::string> alpn;           // as offered: "h2", "http/1.1"
  bool encrypted_hello = false;            // ECH: server_name is the outer name, the inner one can't be known
  std::string reason;                      // of kMalformed and kNotTls: a sentence
};

ClientHello read_client_hello(std::string_view bytes);

}  // namespace bj
