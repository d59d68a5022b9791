// /v1/sandboxes: sandboxes that live for hours, their commands, terminals and files. Each handler asks for its sandbox
// by the key's organization first; another's does not exist.
#pragma once

#include "audit/audit_log.h"
#include "base/async.h"
#include "control/code_runner.h"
#include "control/command_runner.h"
#include "control/sandbox_manager.h"
#include "control/template_builder.h"
#include "server/router.h"

namespace bj::native {

// What the handlers work on. All of it must outlive the router.
struct SandboxServices {
  SandboxManager& manager;
  CommandRunner& commands;
  CodeRunner& code;
  AuditLog& audit;
  Limits limits;  // output that a command may have kept
  TemplateBuilder& builder;
};

void add_sandbox_routes(Router& router, SandboxServices services);
void add_lifecycle_routes(Router& router, SandboxServices services);
void add_network_route(Router& router, SandboxServices services);
void add_snapshot_routes(Router& router, SandboxServices services);
void add_command_routes(Router& router, SandboxServices services);
void add_context_routes(Router& router, SandboxServices services);
void add_terminal_route(Router& router, SandboxServices services);
void add_file_routes(Router& router, SandboxServices services);
void add_file_content_routes(Router& router, SandboxServices services);

// The path's {sandbox_id}, which must look like one.
Result<std::string> sandbox_id_of(const HttpRequest& request);
// The request's sandbox if it runs.
Task<Result<std::shared_ptr<HeldSandbox>>> running_sandbox(SandboxServices services, const HttpRequest& request);

}  // namespace bj::native
