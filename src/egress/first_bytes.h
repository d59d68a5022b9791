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
FirstBytes first_bytes_of(HttpHead head);
// Of kNeedMore, when nothing more comes for a while: no TLS and no line yet, so they may be all that another protocol
// says before it waits. If a request comes out of it all the same, FirstLine finds it.
bool may_be_a_whole_message(std::string_view bytes);

// The first line of what is no HTTP by its first bytes. Servers skip empty lines before a request, take other white
// space for its spaces and know methods of any length: a line that they could take for a request's, as it names a
// version of HTTP, is none of another protocol. Looked at while it passes: what ends with it must not be passed on.
class FirstLine {
 public:
  bool may_pass(std::string_view bytes);

 private:
  std::string end_;        // of the line so far, in small letters
  size_t size_ = 0;        // of the line so far
  bool has_word_ = false;  // the first is complete
  bool is_over_ = false;
};

// May a connection that was made to `name` go on with these? Otherwise the reason.
std::optional<std::string> contradiction(const FirstBytes& bytes, const std::string& name);

}  // namespace bj
