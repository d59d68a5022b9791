// HTTP requests to other machines: webhooks, registries of images. libcurl's multi interface on a thread of its own,
// awaited from any executor.
//
// Every request has a deadline and a limit for its response. Redirects stay on the same scheme, host and port, or are
// returned as they are; credentials in headers therefore never travel further than they were sent. Nothing is logged,
// and errors name the host only.
//
// Destroy it before the executors that wait for it. Requests still under way then fail.
#pragma once

#include <sys/socket.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/async.h"

namespace bj {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

enum class Redirects { kReturned, kSameOrigin };

struct ClientRequest {
  std::string method = "GET";
  std::string url;  // http or https
  HttpHeaders headers;
  std::string body;
  std::chrono::milliseconds timeout{10'000};  // of the whole exchange
  size_t max_response_bytes = 1024 * 1024;
  Redirects redirects = Redirects::kSameOrigin;  // of GET and HEAD, and of those that keep method and body
  std::chrono::seconds idle{0};                  // it ends when nothing came for so long; 0: only with the timeout

  // Both are called on the client's thread. If `may_connect` is set it is asked about the very address that is
  // connected to, and no proxy is used. What `on_body` takes of a successful response is not collected; false ends the
  // transfer. Of any other response it is collected, then a little at most: the limit above is for what is not kept.
  std::function<bool(const sockaddr& address)> may_connect{};
  std::function<bool(std::string_view piece)> on_body{};
};

struct ClientResponse {
  int status = 0;
  HttpHeaders headers;  // names in lower case
  std::string body;

  std::string_view header(std::string_view name) const;  // the first; empty: none
};

class HttpClient {
  class Worker;

 public:
  static Result<std::unique_ptr<HttpClient>> create();
  explicit HttpClient(std::unique_ptr<Worker> worker);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // Any status is a response. kUnavailable: not reached or too late; kExhausted: the response is too large;
  // kInvalid: the request itself. Cancelling the caller ends the transfer.
  Task<Result<ClientResponse>> send(ClientRequest request);

 private:
  Task<Result<ClientResponse>> send_once(ClientRequest request, std::string& redirect);
  std::unique_ptr<Worker> worker_;
};

}  // namespace bj
