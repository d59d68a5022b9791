// GET /v2/sandboxes and /sandboxes: filtered, in pages.
#include <algorithm>
#include <boost/json/array.hpp>
#include <charconv>

#include "api/e2b/page_token.h"
#include "api/e2b/sandbox_bodies.h"
#include "api/e2b/sandbox_json.h"
#include "api/e2b/services.h"
#include "api/handler.h"
#include "api/rfc3339.h"

namespace bj::e2b {
namespace {

namespace json = boost::json;

constexpr int64_t kMostPerPage = 100;

Result<SandboxFilter> filter_of(const HttpRequest& request) {
  SandboxFilter filter;
  filter.states = list_of(request, "state");
  for (const std::string& state : filter.states) {
    if (state != "running" && state != "paused") return fail(Code::kInvalid, "state must be running or paused");
  }
  if (filter.states.empty()) filter.states = {"running", "paused"};
  filter.also_kept = std::find(filter.states.begin(), filter.states.end(), "paused") != filter.states.end();
  if (const MaybeText metadata = query_text(request, "metadata")) {
    BJ_TRY(filter.metadata, read_metadata_filter(*metadata));
  }
  if (const MaybeText since = query_text(request, "startedAfter")) {
    const std::optional<int64_t> time = microseconds_of(*since);
    if (!time) return fail(Code::kInvalid, "startedAfter must be a time of RFC 3339");
    filter.created_since = time;
  }
  return filter;
}

// By its id or by its name: sandboxes may have been asked for with either.
Task<void> add_template(const Services& services, const HttpRequest& request, SandboxFilter& filter) {
  const MaybeText given = query_text(request, "template");
  if (!given) co_return;
  filter.templates = {lower_case(*given)};
  const auto names = co_await services.manager.names_of_template(request.actor.organization, filter.templates.front());
  // An alias of another's is its own name here: `code-interpreter-v1` finds those that were asked for so.
  const bool alias = !names || std::find(names->begin(), names->end(), filter.templates.front()) == names->end();
  if (!alias) filter.templates = *names;
}

Task<Result<HttpResponse>> list(const Services& services, HttpRequest& request) {
  BJ_CO_TRY(SandboxFilter filter, filter_of(request));
  co_await add_template(services, request, filter);
  BJ_CO_TRY(const int64_t limit, page_limit(request));
  Page page;
  const std::string order = query_text(request, "order").value_or("desc");
  if (order != "asc" && order != "desc") co_return fail(Code::kInvalid, "order must be asc or desc");
  page.order = order == "asc" ? Order::kAscending : Order::kDescending;
  page.limit = limit + 1;
  if (const MaybeText token = query_text(request, "nextToken")) {
    BJ_CO_TRY(page.after, read_page_token(*token, page.order));
  }
  const std::string& organization = request.actor.organization;
  BJ_CO_TRY(std::vector<SandboxRow> rows, co_await services.manager.list(organization, std::move(filter), page));
  const bool more = rows.size() > static_cast<size_t>(limit);
  if (more) rows.pop_back();
  json::array sandboxes;
  for (const SandboxRow& row : rows) sandboxes.push_back(listed_json(row));
  HttpResponse response = json_response(200, sandboxes);
  if (more)
    response.headers.add("X-Next-Token", page_token(time_of(rows.back().created_at), rows.back().id, page.order));
  BJ_CO_TRY(const SandboxShare used, co_await services.manager.used(organization));
  response.headers.add("X-Total-Running", std::to_string(used.live));
  co_return response;
}

Task<Result<HttpResponse>> list_running(const Services& services, HttpRequest& request) {
  BJ_CO_TRY(SandboxFilter filter, filter_of(request));
  co_await add_template(services, request, filter);
  filter.states = {"running"};
  filter.also_kept = false;
  Page page;
  page.order = Order::kDescending;
  page.limit = kMostPerPage * 10;
  BJ_CO_TRY(const std::vector<SandboxRow> rows,
            co_await services.manager.list(request.actor.organization, std::move(filter), page));
  json::array sandboxes;
  for (const SandboxRow& row : rows) sandboxes.push_back(listed_json(row));
  co_return json_response(200, sandboxes);
}

}  // namespace

Result<int64_t> page_limit(const HttpRequest& request) {
  const MaybeText text = query_text(request, "limit");
  if (!text) return kMostPerPage;
  int64_t limit = 0;
  const auto [end, bad] = std::from_chars(text->data(), text->data() + text->size(), limit);
  if (bad != std::errc() || end != text->data() + text->size() || limit < 1)
    return fail(Code::kInvalid, "limit must be a number from 1 to 100");
  return std::min(limit, kMostPerPage);
}

Result<Page> newest_page(const HttpRequest& request) {
  Page page;
  page.order = Order::kDescending;
  BJ_TRY(const int64_t limit, page_limit(request));
  page.limit = limit + 1;
  if (const MaybeText token = query_text(request, "nextToken")) {
    BJ_TRY(page.after, read_page_token(*token, page.order));
  }
  return page;
}

void add_list_routes(Router& router, const Services& services) {
  add_route(router, services, Method::kGet, "/v2/sandboxes", list, "List sandboxes in pages");
  add_route(router, services, Method::kGet, "/sandboxes", list_running, "List sandboxes that run");
}

}  // namespace bj::e2b
