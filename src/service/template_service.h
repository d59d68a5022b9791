// Templates, put together: the catalogue, who pulls images, who builds, and the routes to all of it. Lives on the
// engine's thread.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/template_services.h"
#include "control/image_collector.h"
#include "control/template_builder.h"
#include "control/template_catalog.h"
#include "control/template_export.h"
#include "control/template_files.h"
#include "engine/engine.h"
#include "server/router.h"
#include "service/tool_service.h"

namespace bj {

struct TemplateServiceOptions {
  std::string data_directory;
  std::string node;
  std::string scheme = "http";          // of links to this server
  Limits limits;                        // of a sandbox that asks for none
  std::vector<std::string> registries;  // that may have an address which is not public
  int64_t most_stored_bytes = 0;        // of layers, an organization; 0: no limit
  decltype(BuilderOptions::network) network;
  std::function<bool(const std::string& node)> node_is_dead;
  std::function<Task<void>(std::vector<std::string> layers)> remove_layers;
};

class TemplateService {
 public:
  // Both must outlive it.
  TemplateService(Engine& engine, ToolService& tools, const TemplateServiceOptions& options);

  Task<Result<void>> start();
  Task<void> stop();
  void add_routes(Router& router);
  TemplateCatalog& catalog() { return catalog_; }
  TemplateBuilder& builder() { return builder_; }
  ImagePuller& puller() { return puller_; }

 private:
  ToolService& tools_;
  Limits limits_;
  std::string scheme_, secret_;
  TemplateCatalog catalog_;
  TemplateFiles files_;
  ImagePuller puller_;
  ImageCollector collector_;
  TemplateBuilder builder_;
  TemplateExporter exporter_;
};

}  // namespace bj
