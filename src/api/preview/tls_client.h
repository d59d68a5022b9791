// The client's side of TLS, as bytes in and bytes out: who owns the connection moves them. It is for programs inside a
// sandbox that speak nothing else: their certificates are nobody's, and are not looked at.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

struct ssl_st;

namespace bj::preview {

class TlsClient {
 public:
  static Result<std::unique_ptr<TlsClient>> create();

  // What came from the other side.
  void feed(std::string_view bytes);
  // What is to be sent there now; empty: nothing.
  std::string outgoing();
  // True: done. False: more of the other side's is needed. An error: it speaks something else.
  Result<bool> shake_hands();
  // False: it has failed.
  bool put(std::string_view plain);
  // Nothing: more of the other side's is needed. Empty: it has ended, or wants too much that is no content.
  std::optional<std::string> take();

 private:
  struct Free {
    void operator()(ssl_st* ssl) const;
  };
  explicit TlsClient(ssl_st* ssl) : ssl_(ssl) {}
  std::unique_ptr<ssl_st, Free> ssl_;
};

}  // namespace bj::preview
