// /v1/tools: stored tools.
#include <boost/json/array.hpp>

#include "api/handler.h"
#include "api/letta/bodies.h"
#include "api/letta/path_id.h"
#include "api/letta/routes.h"
#include "api/letta/shapes.h"
#include "api/route_group.h"
#include "tools/tool_rules.h"

namespace bj::letta {
namespace {

namespace json = boost::json;

constexpr int64_t kUsualLimit = 50;
// Types of the tools that come with Letta.
const std::vector<std::string> kLettaTypes = {
    "letta_core",           "letta_memory_core",          "letta_multi_agent_core",
    "letta_sleeptime_core", "letta_voice_sleeptime_core", "letta_builtin",
    "letta_files_core"};

MaybeText project_of(const HttpRequest& request) {
  const std::string_view project = request.headers.get("x-project-id");
  return project.empty() ? MaybeText() : MaybeText(std::string(project));
}

ToolCircumstances circumstances_of(const HttpRequest& request) {
  return {project_of(request), equal_ignoring_case(request.headers.get("x-experimental-modal-sandbox"), "true")};
}

Result<void> check_tool_types(const std::vector<std::string>& types) {
  for (const std::string& type : types) {
    if (!is_tool_type(type)) return fail(Code::kInvalid, "\"" + type + "\" is not a tool type");
  }
  return {};
}

Result<std::vector<std::string>> types_of(const HttpRequest& request, std::string_view name) {
  std::vector<std::string> types = list_of(request, name);
  BJ_CHECK(check_tool_types(types));
  return types;
}

Result<ToolFilter> filter_of(const HttpRequest& request) {
  ToolFilter filter;
  filter.name = query_text(request, "name");
  filter.names = list_of(request, "names");
  filter.ids = list_of(request, "tool_ids");
  filter.search = query_text(request, "search");
  filter.project = project_of(request);
  BJ_TRY(filter.types, types_of(request, "tool_types"));
  BJ_TRY(filter.excluded_types, types_of(request, "exclude_tool_types"));
  BJ_TRY(const bool only_letta, query_flag(request, "return_only_letta_tools"));
  BJ_TRY(const bool no_letta, query_flag(request, "exclude_letta_tools"));
  if (only_letta) filter.types = kLettaTypes;
  if (no_letta) filter.excluded_types.insert(filter.excluded_types.end(), kLettaTypes.begin(), kLettaTypes.end());
  return filter;
}

Task<Result<HttpResponse>> put(Services services, HttpRequest& request) {
  BJ_CO_TRY(ToolCreate draft, read_body(request, read_tool_create));
  BJ_CO_TRY(const ToolRow tool,
            co_await services.catalog.put(request.actor, std::move(draft), circumstances_of(request)));
  co_return json_response(200, tool_json(tool));
}

Task<Result<HttpResponse>> list(Services services, HttpRequest& request) {
  BJ_CO_TRY(const ToolFilter filter, filter_of(request));
  BJ_CO_TRY(const Page page, page_of(request, kUsualLimit, Order::kDescending));
  const auto find = [&] { return services.store.tools().list(request.actor.organization, filter, page); };
  BJ_CO_TRY(const std::vector<ToolRow> rows, co_await offload(services.threads, find));
  co_return json_response(200, tools_json(rows));
}

Task<Result<HttpResponse>> count(Services services, HttpRequest& request) {
  BJ_CO_TRY(const ToolFilter filter, filter_of(request));
  const auto count_them = [&] { return services.store.tools().count(request.actor.organization, filter); };
  BJ_CO_TRY(const int64_t number, co_await offload(services.threads, count_them));
  co_return json_response(200, number);
}

Task<Result<HttpResponse>> get(Services services, HttpRequest& request) {
  BJ_CO_TRY(const std::string id, path_id(request, "tool_id", "tool"));
  const auto find = [&] { return services.store.tools().get(request.actor.organization, id); };
  BJ_CO_TRY(const ToolRow row, co_await offload(services.threads, find));
  co_return json_response(200, tool_json(row));
}

Task<Result<HttpResponse>> patch(Services services, HttpRequest& request) {
  BJ_CO_TRY(const std::string id, path_id(request, "tool_id", "tool"));
  BJ_CO_TRY(ToolUpdate change, read_body(request, read_tool_update));
  BJ_CO_TRY(const ToolRow row,
            co_await services.catalog.patch(request.actor, id, std::move(change), circumstances_of(request)));
  co_return json_response(200, tool_json(row));
}

// Letta answers 400 where there is no such tool.
Task<Result<HttpResponse>> remove(Services services, HttpRequest& request) {
  BJ_CO_TRY(const std::string id, path_id(request, "tool_id", "tool"));
  const auto remove_it = [&] { return services.store.tools().remove(request.actor.organization, id); };
  const Result<ToolRow> removed = co_await offload(services.threads, remove_it);
  if (!removed && removed.error().code == Code::kNotFound) {
    co_return fail(Code::kInvalid, "Tool with id " + id + " not found.");
  }
  if (!removed) co_return tl::unexpected(removed.error());
  BJ_CO_CHECK(co_await services.audit.act(request.actor, "tool.remove", id, {{"name", short_name(removed->name)}}));
  co_return json_response(200, nullptr);
}

// Letta's semantic search wants embeddings; ours is the text search of the list, ranked in its order.
Task<Result<HttpResponse>> search(Services services, HttpRequest& request) {
  BJ_CO_TRY(const ToolSearch wanted, read_body(request, UnknownKeys::kIgnore, read_tool_search));
  ToolFilter filter;
  filter.search = wanted.query;
  filter.types = wanted.tool_types;
  filter.tags = tags_in_json(wanted.tags);
  BJ_CO_CHECK(check_tool_types(filter.types));
  Page page;
  page.order = Order::kDescending;
  page.limit = wanted.limit;
  const auto find = [&] { return services.store.tools().list(request.actor.organization, filter, page); };
  BJ_CO_TRY(const std::vector<ToolRow> rows, co_await offload(services.threads, find));
  json::array results;
  for (const ToolRow& row : rows) {
    const json::object tool = tool_json(row);
    results.push_back({{"tool", tool},
                       {"embedded_text", nullptr},
                       {"fts_rank", results.size() + 1},
                       {"vector_rank", nullptr},
                       {"combined_score", 1.0 / static_cast<double>(results.size() + 1)}});
  }
  co_return json_response(200, results);
}

Task<Result<HttpResponse>> generate_schema(Services services, HttpRequest& request) {
  BJ_CO_TRY(SchemaQuestion question, read_body(request, UnknownKeys::kIgnore, read_schema_question));
  BJ_CO_TRY(const json::object schema, co_await services.catalog.derive(std::move(question)));
  co_return json_response(200, schema);
}

// Clients ask for Letta's own tools to be put in place before anything else: there are none.
Task<Result<HttpResponse>> add_base_tools(Services, HttpRequest&) { co_return json_response(200, json::array()); }

std::vector<ParameterDoc> filter_parameters() {
  std::vector<ParameterDoc> all = page_parameters();
  for (const char* name : {"name", "names", "tool_ids", "search", "tool_types", "exclude_tool_types"}) {
    ParameterDoc doc;
    doc.name = name;
    doc.description = "Shows only tools that match.";
    all.push_back(doc);
  }
  return all;
}

}  // namespace

void add_tool_routes(Router& router, const std::string& prefix, Services services) {
  RouteGroup<Services> tools(router, prefix + "/tools", "tools", services);
  const json::value tool = ref("Tool");
  RouteExtras filtered{Access::kByMethod, filter_parameters()};
  const RouteExtras harmless{Access::kReadOnly, {}};
  const RouteExtras in_sandbox{.work = Work::kRun};  // schemas are derived in one
  tools.add(Method::kGet, "/", list, "List tools", nullptr, array_of("Tool"), filtered);
  tools.add(Method::kPost, "/", put, "Create or overwrite a tool", tool_create_schema(), tool, in_sandbox);
  tools.add(Method::kPut, "/", put, "Create or overwrite a tool", tool_create_schema(), tool, in_sandbox);
  tools.add(Method::kGet, "/count", count, "Count tools", nullptr, json::object{{"type", "integer"}}, filtered);
  tools.add(Method::kPost, "/search", search, "Search tools by name", tool_search_schema(),
            json::object{{"type", "array"}}, harmless);
  tools.add(Method::kPost, "/generate-schema", generate_schema, "Derive a schema from a source",
            schema_question_schema(), json::object{{"type", "object"}}, {Access::kReadOnly, {}, Work::kRun});
  tools.add(Method::kPost, "/add-base-tools", add_base_tools, "Nothing: there are no base tools", nullptr,
            array_of("Tool"));
  tools.add(Method::kGet, "/{tool_id}", get, "Get a tool", nullptr, tool);
  tools.add(Method::kPatch, "/{tool_id}", patch, "Change a tool", tool_update_schema(), tool, in_sandbox);
  tools.add(Method::kDelete, "/{tool_id}", remove, "Remove a tool", nullptr, json::object{});
}

}  // namespace bj::letta
