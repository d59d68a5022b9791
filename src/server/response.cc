#include "server/response.h"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/log.h"
#include "server/request.h"

namespace bj {

HttpResponse text_response(unsigned status, std::string_view content_type, std::string body) {
  HttpResponse response;
  response.status = status;
  response.headers.add("Content-Type", content_type);
  response.body = std::move(body);
  return response;
}

HttpResponse json_text_response(unsigned status, std::string text) {
  return text_response(status, "application/json", std::move(text));
}

HttpResponse json_response(unsigned status, const boost::json::value& value) {
  return json_text_response(status, boost::json::serialize(value));
}

HttpResponse empty_response(unsigned status) {
  HttpResponse response;
  response.status = status;
  return response;
}

HttpResponse error_response(unsigned status, std::string_view sentence) {
  return json_response(status, boost::json::object{{"detail", sentence}});
}

HttpResponse error_response(const Error& error) {
  if (error.code != Code::kInternal) {
    HttpResponse response = error_response(status_of(error.code), error.what);
    if (response.status == 503 || error.code == Code::kBusy) response.headers.add("Retry-After", "1");
    return response;
  }
  log_error("internal_error", {{"what", error.what}});
  return error_response(500, "An unknown error occurred");
}

HttpResponse validation_error(const HttpRequest& request, std::string_view sentence) {
  return json_response(422, boost::json::object{{"trace_id", request.id}, {"detail", sentence}});
}

HttpResponse with_code_and_message(HttpResponse response) {
  if (response.status < 400 || response.stream) return response;
  boost::system::error_code bad;
  const boost::json::value told = boost::json::parse(response.body, bad);
  const boost::json::value* const detail = bad || !told.is_object() ? nullptr : told.get_object().if_contains("detail");
  if (detail == nullptr) return response;
  if (response.status == 422) response.status = 400;
  response.body = boost::json::serialize(boost::json::object{{"code", response.status}, {"message", *detail}});
  return response;
}

unsigned status_of(Code code) {
  switch (code) {
    case Code::kInvalid: return 400;
    case Code::kUnprocessable: return 422;
    case Code::kNotFound: return 404;
    case Code::kConflict:
    case Code::kDangling:
    case Code::kBusy: return 409;
    case Code::kDenied: return 403;
    case Code::kExhausted:
    case Code::kUnavailable: return 503;
    case Code::kInternal: return 500;
  }
  return 500;
}

HttpResponse event_stream(std::function<Task<void>(EventStream&)> produce) {
  HttpResponse response = text_response(200, "text/event-stream", "");
  response.headers.add("X-Accel-Buffering", "no");  // proxies must not collect it
  response.heartbeat = ": keep-alive\n\n";          // a comment, which clients ignore
  response.stream = [produce = std::move(produce)](BodyWriter& body) -> Task<void> {
    EventStream events(body);
    co_await produce(events);
  };
  return response;
}

HttpResponse web_socket(std::function<Task<void>(WebSocket&)> talk) {
  HttpResponse response = empty_response(101);
  response.web_socket = std::move(talk);
  return response;
}

}  // namespace bj
