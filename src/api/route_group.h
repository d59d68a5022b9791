// Routes of one subject, added a line each. A handler is a function of the protocol's services and the request.
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <utility>
#include <vector>

#include "api/handler.h"

namespace bj {

struct RouteExtras {
  Access access = Access::kByMethod;
  std::vector<ParameterDoc> parameters{};
  Work work = Work::kLight;
};

template <class Services>
class RouteGroup {
 public:
  using Function = Task<Result<HttpResponse>> (*)(Services, HttpRequest&);

  RouteGroup(Router& router, std::string prefix, const char* tag, Services services)
      : router_(router), prefix_(std::move(prefix)), tag_(tag), services_(services) {}

  // `body` and `answer` are JSON schemas for the documentation; null: there is none.
  void add(Method method, const std::string& path, Function function, const char* summary, boost::json::value body,
           boost::json::value answer, RouteExtras extras = {}) {
    RouteOptions options;
    options.access = extras.access;
    options.work = extras.work;
    options.doc.tag = tag_;
    options.doc.summary = summary;
    options.doc.parameters = std::move(extras.parameters);
    options.doc.request_schema = std::move(body);
    options.doc.response_status = answer.is_null() ? 204 : 200;
    options.doc.response_schema = std::move(answer);
    router_.add(method, prefix_ + path, answering([services = services_, function](HttpRequest& request) {
                  return function(services, request);
                }),
                std::move(options));
  }

 private:
  Router& router_;
  std::string prefix_;
  const char* tag_;
  Services services_;
};

}  // namespace bj
