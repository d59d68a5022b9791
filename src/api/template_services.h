// What handlers about templates work on, of every protocol.
#pragma once

#include "audit/audit_log.h"
#include "control/template_builder.h"
#include "control/template_export.h"

namespace bj {

// All of it must outlive the router.
struct TemplateServices {
  TemplateCatalog& catalog;
  TemplateBuilder& builder;
  TemplateFiles& files;
  TemplateExporter& exporter;
  asio::thread_pool& threads;
  AuditLog& audit;
};

}  // namespace bj
