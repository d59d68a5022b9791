// Routes: a method and a pattern lead to a handler, with what may be asked before it runs and how it is documented.
//
//   router.add(Method::kGet, "/v1/tools/{tool_id}", handler, options);
//
// A literal segment beats a parameter, among the routes that have the method. A parameter is one non-empty segment,
// percent-decoded, so it may hold a slash that came encoded: a handler that makes a path of it must check. "." and ".."
// are no parameters. One slash too many or too few at the end is served the same. HEAD is served by GET's handler,
// OPTIONS by the router itself.
//
// Filled once before serving and constant then. A pattern that is malformed or there twice is a bug and throws.
#pragma once

#include <boost/json/value.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/request.h"
#include "server/response.h"

namespace bj {

using Handler = std::function<Task<HttpResponse>(HttpRequest&)>;

enum class Access {
  kByMethod,          // a key of any role for GET, a member's or an admin's for the rest
  kReadOnly,          // a key of any role, also for methods that usually change something
  kMember,            //
  kAdmin,             //
  kPublic,            // no key at all
  kPublicOnLoopback,  // no key if the server listens on loopback, else any
};
enum class BodyKind { kCollected, kStreamed };
enum class RouteKind { kHttp, kWebSocket };
enum class ErrorForm { kDetail, kCodeAndMessage };  // {"detail"}, or {"code", "message"} with 400 for 422
enum class Work { kLight, kRun };                   // kRun: it starts a sandbox, so it counts among the runs of its key

inline constexpr uint64_t kDefaultBodyLimit = (16 << 20) + (64 << 10);  // 16 MiB of content and room for its envelope

struct ParameterDoc {
  enum class In { kPath, kQuery, kHeader };
  std::string name;
  In in = In::kQuery;
  std::string description;
  boost::json::value schema = {{"type", "string"}};
  bool required = false;  // path parameters always are
};

// For /openapi.json and /docs. Path parameters that are not described here are documented as strings.
struct RouteDoc {
  std::string summary;
  std::string description;
  std::string tag;  // the group it is shown in
  std::vector<ParameterDoc> parameters;
  boost::json::value request_schema;   // null: no body
  boost::json::value response_schema;  // null: no body, or one that is not JSON
  unsigned response_status = 200;
  std::string response_type = "application/json";  // text/event-stream and the like
};

struct RouteOptions {
  Access access = Access::kByMethod;
  uint64_t body_limit = kDefaultBodyLimit;
  BodyKind body = BodyKind::kCollected;
  RouteKind kind = RouteKind::kHttp;
  Work work = Work::kLight;
  ErrorForm errors = ErrorForm::kDetail;  // of what the server itself answers, and of error_response()
  RouteDoc doc;
};

struct Route {
  Method method;
  std::string pattern;
  Handler handler;
  RouteOptions options;
};

struct RouteMatch {
  const Route* route = nullptr;  // null: see the rest
  Parameters parameters;
  std::vector<Method> allowed;  // without a route: the methods that the path has; empty: there is no such path
};

class Router {
 public:
  Router();
  ~Router();
  Router(const Router&) = delete;
  Router& operator=(const Router&) = delete;

  void add(Method method, std::string pattern, Handler handler, RouteOptions options = {});
  // `path` is percent-encoded and without the query. Fails if it can't be decoded.
  Result<RouteMatch> match(Method method, std::string_view path) const;
  // In the order they were added.
  const std::vector<std::unique_ptr<Route>>& routes() const { return routes_; }
  // Schemas that routes refer to as {"$ref": "#/components/schemas/NAME"}.
  void add_schema(std::string name, boost::json::value schema);
  const boost::json::object& schemas() const { return schemas_; }

 private:
  struct Node;
  std::unique_ptr<Node> root_;
  std::vector<std::unique_ptr<Route>> routes_;
  boost::json::object schemas_;
};

// The OpenAPI 3.1 document of the routes.
boost::json::value openapi(const Router& router, std::string_view version);

}  // namespace bj
