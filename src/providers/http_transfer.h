// One exchange over libcurl: an easy handle set up from a request, and what has arrived so far. Used on the client's
// thread only, apart from the cancel flag.
#pragma once

#include <curl/curl.h>

#include <atomic>
#include <memory>
#include <string>

#include "providers/http_client.h"

namespace bj {

// scheme, host and port of a URL, as curl understands it; empty: it is no URL.
std::string origin_of(const std::string& url);
Result<void> check_request(const ClientRequest& request);

class HttpTransfer {
 public:
  explicit HttpTransfer(ClientRequest request) : request_(std::move(request)) {}

  Result<void> prepare();
  CURL* handle() const { return easy_.get(); }
  void cancel() { cancelled_ = true; }

  // After curl is done with it.
  Result<ClientResponse> finish(CURLcode code);
  std::string redirect() const;  // where a 3xx points, absolute; empty: nowhere

 private:
  static size_t on_body(char* data, size_t size, size_t count, void* self);
  static size_t on_header(char* data, size_t size, size_t count, void* self);
  static curl_socket_t on_socket(void* self, curlsocktype purpose, curl_sockaddr* address);
  static int on_progress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t);
  void add_header(std::string_view line);

  struct EasyDelete {
    void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
  };
  struct ListDelete {
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
  };

  ClientRequest request_;
  std::unique_ptr<curl_slist, ListDelete> headers_;  // outlives easy_, which points to it
  std::unique_ptr<CURL, EasyDelete> easy_;
  ClientResponse response_;
  size_t header_bytes_ = 0;
  bool too_large_ = false;
  bool refused_ = false;       // the address, by may_connect
  size_t streamed_bytes_ = 0;  // that on_body took
  std::atomic<bool> cancelled_ = false;
};

}  // namespace bj
