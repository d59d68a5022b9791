// From a request's header to its response, and the record of it: which route, who asks, whether they may, then the
// body, then the handler. Knows nothing of sockets, so that it is the same for every kind of connection.
//
// The order matters: a stranger's body is not read, and a key is not looked up for a path that does not exist.
#pragma once

#include <map>
#include <tuple>

#include "server/address.h"
#include "server/http_server.h"
#include "server/throttle.h"

namespace bj {

// A body that ends with kExhausted at a limit, which the route sets; 0 before.
class LimitedBody : public BodyReader {
 public:
  explicit LimitedBody(BodyReader& body) : body_(body) {}
  void set_limit(uint64_t bytes) { limit_ = bytes; }
  uint64_t limit() const { return limit_; }
  Task<Result<std::string>> read() override;
  std::optional<uint64_t> length() const override { return body_.length(); }
  void allow_pauses(std::chrono::milliseconds longest) override { body_.allow_pauses(longest); }

 private:
  tl::unexpected<Error> too_long() const;

  BodyReader& body_;
  uint64_t limit_ = 0;
  uint64_t taken_ = 0;
};

// The answer to a body that could not be read: 400, 408 or 413.
HttpResponse body_failure(const Error& error);

class Dispatcher {
 public:
  enum class Reach { kLoopback, kNetwork };

  Dispatcher(Service service, SitePolicy site, RateLimits rates, Reach reach);

  // Gives the request its id.
  void identify(HttpRequest& request);
  // Never throws: what a handler throws becomes a 500 and a line in the log.
  Task<HttpResponse> respond(HttpRequest& request, LimitedBody& body);
  // One line in the log, and the metrics.
  void record(const HttpRequest& request, unsigned status, uint64_t bytes, Clock::duration duration);
  // The same for what never became a request.
  void record_refused(const HttpRequest& request, unsigned status);

 private:
  struct Series {
    MetricCounter requests;
    MetricHistogram duration;
  };

  Task<HttpResponse> handle(HttpRequest& request, LimitedBody& body);
  // An answer of its own instead of the handler's: not found, not allowed, not ours.
  std::optional<HttpResponse> refusal(const HttpRequest& request, const RouteMatch& match) const;
  Task<std::optional<HttpResponse>> authenticate(HttpRequest& request, const Route& route);
  // One too many of its key's requests or runs?
  std::optional<HttpResponse> limit(HttpRequest& request, const Route& route);
  HttpResponse too_many(const OverLimit& over);
  // The whole body; else the answer to one that can't be had.
  Task<tl::expected<std::string, HttpResponse>> collect(LimitedBody& body, KeyHold* hold);
  // Does the request come from a page of a configured origin?
  bool shares_with(const HttpRequest& request) const;
  // Lets pages of the configured origins, and no others, read the response (CORS).
  void share(const HttpRequest& request, HttpResponse& response) const;
  bool is_public(Access access) const;
  Series& series(const HttpRequest& request, unsigned status);

  Service service_;
  SitePolicy site_;
  Reach reach_;
  AuthThrottle throttle_;
  RateLimiter limiter_;
  std::string id_prefix_;
  uint64_t ids_ = 0;
  std::map<std::tuple<const char*, Method, unsigned>, Series> series_;
};

}  // namespace bj
