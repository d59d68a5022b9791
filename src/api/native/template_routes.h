// /v1/templates: templates and their builds. Each handler asks for its template by the key's organization; another's
// does not exist, unless it is public, and then it can be looked at only.
#pragma once

#include <boost/json/object.hpp>

#include "api/template_services.h"
#include "server/router.h"

namespace bj {

namespace native {

void add_template_routes(Router& router, TemplateServices services);
void add_template_file_routes(Router& router, TemplateServices services);
void add_template_network_routes(Router& router, TemplateServices services);
void add_template_export_routes(Router& router, TemplateServices services);

boost::json::object template_json(const TemplateView& view);
boost::json::object build_json(const TemplateBuildRow& build);
boost::json::object log_json(const BuildLogRow& entry);

// The body of a build: steps, or the text of a Dockerfile.
struct BuildBody {
  TemplateCatalog::NewBuild wanted;
  BuildRequest request;
  RegistryLogin login;
};
Result<BuildBody> read_build(const HttpRequest& request);

}  // namespace native
}  // namespace bj
