// Every request of a plain HTTP connection whose bytes are passed on as they are: a connection is to one place, and a
// later request on it could ask for another one that the same server has. Bytes are looked at before they are passed
// on; nothing is changed. What can't be read as the next request is refused, as two readers could disagree about it.
//
// A WebSocket ends the reading, once the server has agreed to it. Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "egress/http_body.h"
#include "egress/http_head.h"

namespace bj {

class PlainRequests {
 public:
  // Why a request must not be passed on; nothing: it may.
  using Complaint = std::function<std::optional<std::string>(const HttpHead& head)>;
  explicit PlainRequests(Complaint complaint) : complaint_(std::move(complaint)) {}

  // The program's next bytes, before they are passed on. Nothing, or why they must not be.
  std::optional<std::string> sent(std::string_view bytes);
  // The server's.
  void answered(std::string_view bytes);

 private:
  std::optional<std::string> read_head(std::string_view& bytes);
  std::optional<std::string> read_body(std::string_view& bytes);
  bool is_websocket() const;

  Complaint complaint_;
  std::string head_;  // of a request, as far as it came
  HttpHeadReader reader_;
  std::optional<HttpBodyReader> body_;  // of the request that is passing
  size_t requests_ = 0;
  bool asked_for_websocket_ = false;  // by the first request: its answer is the first
  std::string first_answer_;          // as much of it as its status takes
};

}  // namespace bj
