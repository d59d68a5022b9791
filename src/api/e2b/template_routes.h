// E2B's templates, as its SDKs and its CLI speak of them: names of fields, statuses and words are E2B's, what they mean
// is the catalogue's. Uploads go to links that are signed here and name their organization.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

#include "api/template_services.h"
#include "seal/policy.h"
#include "server/router.h"

namespace bj::e2b {

struct TemplateRoutes {
  TemplateServices templates;
  Limits limits;       // of a sandbox that asks for none
  std::string scheme;  // of links to this server: http or https
  std::string secret;  // that signs links to uploads; random, this server's own
};

void add_template_routes(Router& router, const TemplateRoutes& routes);

// Internal: the routes in their files.
using TemplateHandler = Task<Result<HttpResponse>> (*)(const TemplateRoutes&, HttpRequest&);
void add_template_route(Router& router, const TemplateRoutes& routes, Method method, const char* path,
                        TemplateHandler handler, const char* summary, Access access = Access::kByMethod,
                        BodyKind body = BodyKind::kCollected);
void add_template_build_routes(Router& router, const TemplateRoutes& routes);
void add_template_tag_routes(Router& router, const TemplateRoutes& routes);

Result<boost::json::object> body_of(const HttpRequest& request);
std::string text_of(const boost::json::object& body, std::string_view key);
std::vector<std::string> texts_of(const boost::json::object& body, std::string_view key);

}  // namespace bj::e2b
