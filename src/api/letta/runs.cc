// Runs: from a source that comes with the request, and of an agent's tool.
#include "api/handler.h"
#include "api/letta/bodies.h"
#include "api/letta/path_id.h"
#include "api/letta/routes.h"
#include "api/letta/shapes.h"
#include "api/route_group.h"

namespace bj::letta {
namespace {

namespace json = boost::json;

Task<Result<HttpResponse>> run_from_source(Services services, HttpRequest& request) {
  BJ_CO_TRY(ToolRunFromSource body, read_body(request, read_tool_run));
  const json::value name = body.name ? json::value(*body.name) : json::value(nullptr);
  RunRequest run;
  run.actor = request.actor;
  run.arguments = std::move(body.args);
  run.variables = std::move(body.env_vars).value_or(std::map<std::string, std::string>());
  BJ_CO_TRY(run.tool, co_await services.catalog.make(std::move(body)));
  BJ_CO_TRY(const RunOutcome outcome, co_await services.runner.run(std::move(run)));
  co_return json_response(200, return_message_json(outcome, name));
}

Task<Result<HttpResponse>> run_of_agent(Services services, HttpRequest& request) {
  BJ_CO_TRY(const std::string agent, path_id(request, "agent_id", "agent"));
  json::object args;
  if (!request.body.empty()) {
    BJ_CO_TRY(args, read_body(request, UnknownKeys::kForbid, read_run_args));
  }
  RunRequest run;
  run.actor = request.actor;
  run.find_tool = [organization = request.actor.organization, agent,
                   name = request.parameter("tool_name")](Store& store) -> Result<ToolRow> {
    BJ_TRY(std::optional<ToolRow> tool, store.agents().attached_tool(organization, agent, name));
    if (tool) return std::move(*tool);
    return fail(Code::kNotFound, "Tool '" + name + "' not found or not attached to agent '" + agent + "'");
  };
  run.agent_id = agent;
  run.arguments = std::move(args);
  BJ_CO_TRY(RunOutcome outcome, co_await services.runner.run(std::move(run)));
  if (!outcome.success) outcome.value = nullptr;
  co_return json_response(200, execution_json(outcome));
}

}  // namespace

void add_run_routes(Router& router, const std::string& prefix, Services services) {
  RouteGroup<Services> runs(router, prefix, "runs", services);
  runs.add(Method::kPost, "/tools/run", run_from_source, "Run a tool from its source", run_from_source_schema(),
           json::object{{"type", "object"}}, {.work = Work::kRun});
  runs.add(Method::kPost, "/agents/{agent_id}/tools/{tool_name}/run", run_of_agent, "Run an agent's tool",
           run_args_schema(), ref("ToolExecutionResult"), {.work = Work::kRun});
}

}  // namespace bj::letta
