// /v1/agents, as far as tools need them: attached tools, memory blocks, secrets.
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "api/handler.h"
#include "api/letta/bodies.h"
#include "api/letta/path_id.h"
#include "api/letta/routes.h"
#include "api/letta/shapes.h"
#include "api/route_group.h"

namespace bj::letta {
namespace {

namespace json = boost::json;

constexpr int64_t kUsualLimit = 50;

// Blocks.
Result<WholeAgent> whole(Store& store, const std::string& organization, AgentRow row) {
  WholeAgent agent;
  BJ_TRY(agent.tools, store.agents().tools(organization, row.id));
  BJ_TRY(agent.blocks, store.agents().blocks(organization, row.id));
  BJ_TRY(agent.variables, store.agents().variables(organization, row.id));
  agent.row = std::move(row);
  return agent;
}

// Blocks.
Result<WholeAgent> load(Store& store, const std::string& organization, const std::string& id) {
  BJ_TRY(AgentRow row, store.agents().get(organization, id));
  return whole(store, organization, std::move(row));
}

// Blocks.
Result<WholeAgent> create_agent(Store& store, const Actor& actor, AgentDraft draft) {
  for (const std::string& name : draft.tool_names) {
    BJ_TRY(const std::optional<ToolRow> tool, store.tools().find_by_name(actor.organization, name));
    if (!tool) return fail(Code::kNotFound, "there is no tool \"" + name + "\"");
    draft.agent.tool_ids.push_back(tool->id);
  }
  BJ_TRY(AgentRow row, store.agents().create(actor, std::move(draft.agent)));
  return whole(store, actor.organization, std::move(row));
}

void apply(const AgentPatch& patch, AgentRow& row) {
  if (patch.name) row.name = *patch.name;
  if (patch.description) row.description = *patch.description;
  if (patch.system) row.system = *patch.system;
  if (patch.project_id) row.project_id = *patch.project_id;
  if (patch.tags) row.tags = json::serialize(json::array(patch.tags->begin(), patch.tags->end()));
  if (patch.metadata) row.metadata = json::serialize(*patch.metadata);
}

// Blocks.
Result<WholeAgent> change_agent(Store& store, const Actor& actor, const std::string& id, const AgentPatch& patch) {
  AgentChange change;
  change.edit = [&patch](AgentRow& row) -> Result<void> {
    apply(patch, row);
    return {};
  };
  change.tool_ids = patch.tool_ids;
  change.block_ids = patch.block_ids;
  if (patch.variables) {
    change.variables.emplace();
    for (const auto& [key, value] : *patch.variables) change.variables->push_back({key, Secret(value), {}});
  }
  BJ_CHECK(store.agents().change(actor, id, change));
  return load(store, actor.organization, id);
}

// `ascending` is how older clients ask for an order.
Result<Page> agents_page(const HttpRequest& request) {
  BJ_TRY(const bool ascending, query_flag(request, "ascending"));
  return page_of(request, kUsualLimit, ascending ? Order::kAscending : Order::kDescending);
}

Result<AgentFilter> filter_of(const HttpRequest& request) {
  AgentFilter filter;
  filter.name = query_text(request, "name");
  filter.search = query_text(request, "query_text");
  filter.project = query_text(request, "project_id");
  BJ_TRY(const bool all, query_flag(request, "match_all_tags"));
  (all ? filter.all_tags : filter.tags) = tags_in_json(list_of(request, "tags"));
  return filter;
}

// Blocks.
Result<std::vector<WholeAgent>> list_agents(Store& store, const std::string& organization, const Page& page,
                                            const AgentFilter& filter) {
  std::vector<WholeAgent> agents;
  BJ_TRY(std::vector<AgentRow> rows, store.agents().list(organization, page, filter));
  for (AgentRow& row : rows) {
    BJ_TRY(WholeAgent agent, whole(store, organization, std::move(row)));
    agents.push_back(std::move(agent));
  }
  return agents;
}

json::array agents_json(const HttpRequest& request, const std::vector<WholeAgent>& agents) {
  json::array all;
  for (const WholeAgent& agent : agents) all.push_back(agent_json(agent, shown_to(request.actor)));
  return all;
}

HttpResponse answer(const HttpRequest& request, const WholeAgent& agent) {
  return json_response(200, agent_json(agent, shown_to(request.actor)));
}

Task<Result<HttpResponse>> create(Services services, HttpRequest& request) {
  BJ_CO_TRY(AgentDraft draft, read_body(request, UnknownKeys::kIgnore, read_agent_create));
  const auto make = [&] { return create_agent(services.store, request.actor, std::move(draft)); };
  BJ_CO_TRY(const WholeAgent agent, co_await offload(services.threads, make));
  BJ_CO_CHECK(co_await services.audit.act(request.actor, "agent.create", agent.row.id));
  co_return answer(request, agent);
}

Task<Result<HttpResponse>> get(Services services, HttpRequest& request) {
  BJ_CO_TRY(const std::string id, path_id(request, "agent_id", "agent"));
  const auto find = [&] { return load(services.store, request.actor.organization, id); };
  BJ_CO_TRY(const WholeAgent agent, co_await offload(services.threads, find));
  co_return answer(request, agent);
}

Task<Result<HttpResponse>> list(Services services, HttpRequest& request) {
  BJ_CO_TRY(const Page page, agents_page(request));
  BJ_CO_TRY(const AgentFilter filter, filter_of(request));
  const auto find = [&] { return list_agents(services.store, request.actor.organization, page, filter); };
  BJ_CO_TRY(const std::vector<WholeAgent> agents, co_await offload(services.threads, find));
  co_return json_response(200, agents_json(request, agents));
}

Task<Result<HttpResponse>> list_of_block(Services services, HttpRequest& request) {
  BJ_CO_TRY(const std::string block, path_id(request, "block_id", "block"));
  BJ_CO_TRY(const Page page, agents_page(request));
  const auto find = [&]() -> Result<std::vector<WholeAgent>> {
    BJ_CHECK(services.store.blocks().get(request.actor.organization, block));
    AgentFilter filter;
    filter.block = block;
    return list_agents(services.store, request.actor.organization, page, filter);
  };
  BJ_CO_TRY(const std::vector<WholeAgent> agents, co_await offload(services.threads, find));
  co_return json_response(200, agents_json(request, agents));
}

Task<Result<HttpResponse>> patch(Services services, HttpRequest& request) {
  BJ_CO_TRY(const std::string id, path_id(request, "agent_id", "agent"));
  BJ_CO_TRY(const AgentPatch wanted, read_body(request, UnknownKeys::kIgnore, read_agent_update));
  const auto change = [&] { return change_agent(services.store, request.actor, id, wanted); };
  BJ_CO_TRY(const WholeAgent agent, co_await offload(services.threads, change));
  json::object detail{{"tools", wanted.tool_ids.has_value()}, {"secrets", wanted.variables.has_value()}};
  BJ_CO_CHECK(co_await services.audit.act(request.actor, "agent.change", id, std::move(detail)));
  co_return answer(request, agent);
}

Task<Result<HttpResponse>> remove(Services services, HttpRequest& request) {
  BJ_CO_TRY(const std::string id, path_id(request, "agent_id", "agent"));
  const auto remove_it = [&] { return services.store.agents().remove(request.actor.organization, id); };
  BJ_CO_CHECK(co_await offload(services.threads, remove_it));
  BJ_CO_CHECK(co_await services.audit.act(request.actor, "agent.remove", id));
  co_return json_response(200, nullptr);
}

Task<Result<HttpResponse>> list_tools(Services services, HttpRequest& request) {
  BJ_CO_TRY(const std::string id, path_id(request, "agent_id", "agent"));
  BJ_CO_TRY(const Page page, page_of(request, kUsualLimit, Order::kDescending));
  const auto find = [&]() -> Result<std::vector<ToolRow>> {
    BJ_CHECK(services.store.agents().get(request.actor.organization, id));
    return services.store.agents().tools(request.actor.organization, id, page);
  };
  BJ_CO_TRY(const std::vector<ToolRow> tools, co_await offload(services.threads, find));
  co_return json_response(200, tools_json(tools));
}

struct Link {
  const char* what;
  const char* action;
  Result<void> (AgentTable::*change)(const Actor&, const std::string&, const std::string&);
};

Task<Result<HttpResponse>> link(Services services, HttpRequest& request, Link wanted) {
  BJ_CO_TRY(const std::string agent, path_id(request, "agent_id", "agent"));
  BJ_CO_TRY(const std::string other, path_id(request, std::string(wanted.what) + "_id", wanted.what));
  const auto work = [&]() -> Result<WholeAgent> {
    BJ_CHECK((services.store.agents().*wanted.change)(request.actor, agent, other));
    return load(services.store, request.actor.organization, agent);
  };
  BJ_CO_TRY(const WholeAgent whole_agent, co_await offload(services.threads, work));
  BJ_CO_CHECK(co_await services.audit.act(request.actor, wanted.action, agent, {{wanted.what, other}}));
  co_return answer(request, whole_agent);
}

Task<Result<HttpResponse>> attach_tool(Services services, HttpRequest& request) {
  return link(services, request, {"tool", "agent.tool.attach", &AgentTable::attach_tool});
}
Task<Result<HttpResponse>> detach_tool(Services services, HttpRequest& request) {
  return link(services, request, {"tool", "agent.tool.detach", &AgentTable::detach_tool});
}
Task<Result<HttpResponse>> attach_block(Services services, HttpRequest& request) {
  return link(services, request, {"block", "agent.block.attach", &AgentTable::attach_block});
}
Task<Result<HttpResponse>> detach_block(Services services, HttpRequest& request) {
  return link(services, request, {"block", "agent.block.detach", &AgentTable::detach_block});
}

std::vector<ParameterDoc> list_parameters() {
  std::vector<ParameterDoc> all = page_parameters();
  for (const char* name : {"name", "query_text", "project_id", "tags", "match_all_tags"}) {
    ParameterDoc doc;
    doc.name = name;
    doc.description = "Shows only agents that match.";
    all.push_back(doc);
  }
  return all;
}

}  // namespace

void add_agent_routes(Router& router, const std::string& prefix, Services services) {
  RouteGroup<Services> agents(router, prefix + "/agents", "agents", services);
  const json::value agent = ref("AgentState");
  const std::string one = "/{agent_id}";
  agents.add(Method::kPost, "/", create, "Create an agent", agent_schema(), agent);
  const RouteExtras paged{Access::kByMethod, page_parameters()};
  agents.add(Method::kGet, "/", list, "List agents", nullptr, array_of("AgentState"),
             {Access::kByMethod, list_parameters()});
  agents.add(Method::kGet, one, get, "Get an agent", nullptr, agent);
  agents.add(Method::kPatch, one, patch, "Change an agent", agent_schema(), agent);
  agents.add(Method::kDelete, one, remove, "Remove an agent", nullptr, json::object{});
  agents.add(Method::kGet, one + "/tools", list_tools, "List an agent's tools", nullptr, array_of("Tool"), paged);
  agents.add(Method::kPatch, one + "/tools/attach/{tool_id}", attach_tool, "Attach a tool", nullptr, agent);
  agents.add(Method::kPatch, one + "/tools/detach/{tool_id}", detach_tool, "Detach a tool", nullptr, agent);
  const std::string blocks = one + "/core-memory/blocks";
  agents.add(Method::kPatch, blocks + "/attach/{block_id}", attach_block, "Attach a block", nullptr, agent);
  agents.add(Method::kPatch, blocks + "/detach/{block_id}", detach_block, "Detach a block", nullptr, agent);
  RouteGroup<Services> of_block(router, prefix + "/blocks", "blocks", services);
  of_block.add(Method::kGet, "/{block_id}/agents", list_of_block, "List the agents that have a block", nullptr,
               array_of("AgentState"), paged);
}

}  // namespace bj::letta
