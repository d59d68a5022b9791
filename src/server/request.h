// One HTTP request as handlers see it. It lives until its response has been sent, streamed responses included, so a
// response's stream may refer to it. Everything in it comes from the network: bounded in size, not otherwise trusted.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/actor.h"
#include "base/async.h"
#include "server/headers.h"

namespace bj {

class KeyHold;

enum class Method { kGet, kHead, kPost, kPut, kPatch, kDelete, kOptions };
const char* name_of(Method method);
std::optional<Method> method_of(std::string_view name);

// Named values in their order; a name may repeat.
class Parameters {
 public:
  // The first value of that name; nullptr if there is none.
  const std::string* find(std::string_view name) const;
  std::vector<std::string> all(std::string_view name) const;
  void add(std::string name, std::string value) { values_.emplace_back(std::move(name), std::move(value)); }
  size_t size() const { return values_.size(); }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }

 private:
  std::vector<std::pair<std::string, std::string>> values_;
};

// A request's body as it arrives. Reading after the end gives the end again.
class BodyReader {
 public:
  virtual ~BodyReader() = default;
  // The next piece, empty at the end. kInvalid: malformed; kExhausted: over the route's limit; kUnavailable: too slow
  // or gone. After a failure the request can only be answered: body_failure() in dispatcher.h makes the answer.
  virtual Task<Result<std::string>> read() = 0;
  // What Content-Length promised; nothing for a chunked body.
  virtual std::optional<uint64_t> length() const = 0;
  // From now on the client may be silent for so long between two pieces, and as slow in all as it likes: it sends what
  // comes into being meanwhile. Only for one who has shown who he is.
  virtual void allow_pauses(std::chrono::milliseconds longest) = 0;
};

struct HttpRequest {
  Method method = Method::kGet;
  std::string path;            // as sent, still percent-encoded, without the query
  Parameters path_parameters;  // decoded
  Parameters query;            // decoded
  std::string query_text;      // as sent, without its question mark
  Headers headers;
  std::string body;                   // of routes that collect it
  BodyReader* body_stream = nullptr;  // of routes that stream it, never null there
  std::string id;                     // X-Request-Id: the client's if it is sane, else made here
  std::string peer;                   // the client's IP address
  std::string local;                  // the IP address at which it arrived
  bool secure = false;                // it came over TLS
  Actor actor;                        // empty on public routes
  std::shared_ptr<KeyHold> hold;      // what it takes of its key's limits (rate_limits.h); none on public routes
  const char* route = "";             // the pattern that matched, for logs and metrics
  bool code_and_message = false;      // how this route's failures are told: ErrorForm::kCodeAndMessage

  // A path parameter of the route's pattern; asking for one that the pattern lacks is a bug.
  const std::string& parameter(std::string_view name) const;
};

}  // namespace bj
