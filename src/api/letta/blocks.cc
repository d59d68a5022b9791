// Memory blocks: /v1/blocks, and those of an agent by their label.
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "api/handler.h"
#include "api/letta/bodies.h"
#include "api/letta/path_id.h"
#include "api/letta/routes.h"
#include "api/letta/shapes.h"
#include "api/route_group.h"
#include "tools/python_text.h"

namespace bj::letta {
namespace {

namespace json = boost::json;

constexpr int64_t kUsualLimit = 50;

Result<void> check_length(const BlockRow& block) {
  const size_t length = python_length(block.value);
  if (length <= static_cast<size_t>(block.limit)) return {};
  return fail(Code::kInvalid, "Edit failed: Exceeds " + std::to_string(block.limit) + " character limit (requested " +
                                  std::to_string(length) + ")");
}

Result<void> apply(const BlockPatch& patch, BlockRow& block) {
  if (patch.label) block.label = *patch.label;
  if (patch.value) block.value = *patch.value;
  if (patch.description) block.description = *patch.description;
  if (patch.limit) block.limit = *patch.limit;
  if (patch.read_only) block.read_only = *patch.read_only;
  if (patch.metadata) block.metadata = json::serialize(*patch.metadata);
  return check_length(block);
}

json::array blocks_json(const std::vector<BlockRow>& rows) {
  json::array blocks;
  for (const BlockRow& row : rows) blocks.push_back(block_json(row));
  return blocks;
}

Task<Result<HttpResponse>> create(Services services, HttpRequest& request) {
  BJ_CO_TRY(const BlockRow wanted, read_body(request, UnknownKeys::kIgnore, read_block_create));
  BJ_CO_CHECK(check_length(wanted));
  const auto make = [&] { return services.store.blocks().create(request.actor, wanted); };
  BJ_CO_TRY(const BlockRow row, co_await offload(services.threads, make));
  BJ_CO_CHECK(co_await services.audit.act(request.actor, "block.create", row.id));
  co_return json_response(200, block_json(row));
}

Task<Result<HttpResponse>> list(Services services, HttpRequest& request) {
  BJ_CO_TRY(const Page page, page_of(request, kUsualLimit, Order::kAscending));
  BlockFilter filter;
  filter.label = query_text(request, "label");
  filter.label_search = query_text(request, "label_search");
  filter.value_search = query_text(request, "value_search");
  filter.description_search = query_text(request, "description_search");
  const auto find = [&] { return services.store.blocks().list(request.actor.organization, page, filter); };
  BJ_CO_TRY(const std::vector<BlockRow> rows, co_await offload(services.threads, find));
  co_return json_response(200, blocks_json(rows));
}

Task<Result<HttpResponse>> get(Services services, HttpRequest& request) {
  BJ_CO_TRY(const std::string id, path_id(request, "block_id", "block"));
  const auto find = [&] { return services.store.blocks().get(request.actor.organization, id); };
  BJ_CO_TRY(const BlockRow row, co_await offload(services.threads, find));
  co_return json_response(200, block_json(row));
}

Task<Result<HttpResponse>> patch(Services services, HttpRequest& request) {
  BJ_CO_TRY(const std::string id, path_id(request, "block_id", "block"));
  BJ_CO_TRY(const BlockPatch wanted, read_body(request, UnknownKeys::kIgnore, read_block_update));
  const auto edit = [&](BlockRow& block) { return apply(wanted, block); };
  const auto change = [&] { return services.store.blocks().change(request.actor, id, edit); };
  BJ_CO_TRY(const BlockRow row, co_await offload(services.threads, change));
  BJ_CO_CHECK(co_await services.audit.act(request.actor, "block.change", row.id));
  co_return json_response(200, block_json(row));
}

Task<Result<HttpResponse>> remove(Services services, HttpRequest& request) {
  BJ_CO_TRY(const std::string id, path_id(request, "block_id", "block"));
  const auto remove_it = [&] { return services.store.blocks().remove(request.actor.organization, id); };
  BJ_CO_CHECK(co_await offload(services.threads, remove_it));
  BJ_CO_CHECK(co_await services.audit.act(request.actor, "block.remove", id));
  co_return json_response(200, nullptr);
}

// Blocks. An agent's blocks by its id: the agent must be there, an empty list means that it has none.
Result<std::vector<BlockRow>> blocks_of(Store& store, const std::string& organization, const std::string& agent,
                                        const Page& page = {}) {
  BJ_CHECK(store.agents().get(organization, agent));
  return store.agents().blocks(organization, agent, page);
}

// Blocks.
Result<BlockRow> block_labelled(Store& store, const std::string& organization, const std::string& agent,
                                const std::string& label) {
  BJ_TRY(const std::vector<BlockRow> rows, blocks_of(store, organization, agent));
  for (const BlockRow& row : rows) {
    if (row.label == label) return row;
  }
  return fail(Code::kNotFound, "agent " + agent + " has no memory block \"" + label + "\"");
}

Task<Result<HttpResponse>> list_of_agent(Services services, HttpRequest& request) {
  BJ_CO_TRY(const std::string id, path_id(request, "agent_id", "agent"));
  BJ_CO_TRY(const Page page, page_of(request, kUsualLimit, Order::kDescending));
  const auto find = [&] { return blocks_of(services.store, request.actor.organization, id, page); };
  BJ_CO_TRY(const std::vector<BlockRow> rows, co_await offload(services.threads, find));
  co_return json_response(200, blocks_json(rows));
}

Task<Result<HttpResponse>> get_of_agent(Services services, HttpRequest& request) {
  BJ_CO_TRY(const std::string id, path_id(request, "agent_id", "agent"));
  const std::string& label = request.parameter("block_label");
  const auto find = [&] { return block_labelled(services.store, request.actor.organization, id, label); };
  BJ_CO_TRY(const BlockRow row, co_await offload(services.threads, find));
  co_return json_response(200, block_json(row));
}

Task<Result<HttpResponse>> patch_of_agent(Services services, HttpRequest& request) {
  BJ_CO_TRY(const std::string id, path_id(request, "agent_id", "agent"));
  BJ_CO_TRY(const BlockPatch wanted, read_body(request, UnknownKeys::kIgnore, read_block_update));
  const std::string& label = request.parameter("block_label");
  const auto edit = [&](BlockRow& block) { return apply(wanted, block); };
  const auto change = [&]() -> Result<BlockRow> {
    BJ_TRY(const BlockRow row, block_labelled(services.store, request.actor.organization, id, label));
    return services.store.agents().change_block(request.actor, id, row.id, edit);
  };
  BJ_CO_TRY(const BlockRow row, co_await offload(services.threads, change));
  BJ_CO_CHECK(co_await services.audit.act(request.actor, "block.change", row.id));
  co_return json_response(200, block_json(row));
}

std::vector<ParameterDoc> list_parameters() {
  std::vector<ParameterDoc> all = page_parameters();
  for (const char* name : {"label", "label_search", "value_search", "description_search"}) {
    ParameterDoc doc;
    doc.name = name;
    doc.description = "Shows only blocks that match.";
    all.push_back(doc);
  }
  return all;
}

}  // namespace

void add_block_routes(Router& router, const std::string& prefix, Services services) {
  RouteGroup<Services> blocks(router, prefix, "blocks", services);
  const json::value block = ref("Block");
  const RouteExtras paged{Access::kByMethod, page_parameters()};
  blocks.add(Method::kPost, "/blocks/", create, "Create a block", block_schema(), block);
  blocks.add(Method::kGet, "/blocks/", list, "List blocks", nullptr, array_of("Block"),
             {Access::kByMethod, list_parameters()});
  blocks.add(Method::kGet, "/blocks/{block_id}", get, "Get a block", nullptr, block);
  blocks.add(Method::kPatch, "/blocks/{block_id}", patch, "Change a block", block_schema(), block);
  blocks.add(Method::kDelete, "/blocks/{block_id}", remove, "Remove a block", nullptr, json::object{});
  const std::string of_agent = "/agents/{agent_id}/core-memory/blocks";
  blocks.add(Method::kGet, of_agent, list_of_agent, "List an agent's blocks", nullptr, array_of("Block"), paged);
  blocks.add(Method::kGet, of_agent + "/{block_label}", get_of_agent, "Get an agent's block", nullptr, block);
  blocks.add(Method::kPatch, of_agent + "/{block_label}", patch_of_agent, "Change an agent's block", block_schema(),
             block);
}

}  // namespace bj::letta
