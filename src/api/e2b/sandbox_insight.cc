// What a sandbox uses and what happened to it: metrics and logs.
#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>

#include "api/e2b/log_level.h"
#include "api/e2b/sandbox_json.h"
#include "api/e2b/services.h"
#include "api/handler.h"

namespace bj::e2b {
namespace {

namespace json = boost::json;

constexpr int64_t kMostLogLines = 1000;

Result<std::optional<int64_t>> number_of(const HttpRequest& request, std::string_view name) {
  const MaybeText text = query_text(request, name);
  if (!text) return std::optional<int64_t>();
  int64_t value = 0;
  const auto [end, bad] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (bad != std::errc() || end != text->data() + text->size())
    return fail(Code::kInvalid, std::string(name) + " must be a whole number");
  return std::optional<int64_t>(value);
}

Task<Result<HttpResponse>> metrics(const Services& services, HttpRequest& request) {
  BJ_CO_TRY(const SandboxRow row, co_await living_row(services, request));
  BJ_CO_TRY(const std::optional<int64_t> start, number_of(request, "start"));
  BJ_CO_TRY(const std::optional<int64_t> end, number_of(request, "end"));
  json::array points;
  if (const auto sandbox = co_await services.manager.held(row.organization, row.id)) {
    for (const MetricPoint& point : co_await services.metrics.of(*sandbox)) {
      const int64_t time = point.time / 1'000'000;
      if ((!start || time >= *start) && (!end || time <= *end)) points.push_back(metric_json(point));
    }
  }
  co_return json_response(200, points);
}

// The last point of each of the sandboxes; what is not there, or another's, is left out.
Task<Result<HttpResponse>> metrics_of_many(const Services& services, HttpRequest& request) {
  json::object sandboxes;
  for (const std::string& id : list_of(request, "sandbox_ids")) {
    const auto sandbox = co_await services.manager.held(request.actor.organization, id);
    if (!sandbox) continue;
    const std::vector<MetricPoint> points = co_await services.metrics.of(*sandbox);
    if (!points.empty()) sandboxes[id] = metric_json(points.back());
  }
  co_return json_response(200, json::object{{"sandboxes", std::move(sandboxes)}});
}

struct Wanted {
  std::optional<int64_t> start_ms;
  int64_t limit = kMostLogLines;
  bool backward = false;
  std::string level, search;
};

// As E2B names it.
std::string level_of(const LogLine& line) { return line.level == "warning" ? "warn" : line.level; }

json::array lines_of(const HeldSandbox& sandbox, const Wanted& wanted, json::array& plain) {
  std::vector<const LogLine*> lines;
  for (const LogLine& line : sandbox.log.lines()) {
    const int64_t ms = line.time / 1000;
    if (wanted.start_ms && (wanted.backward ? ms > *wanted.start_ms : ms < *wanted.start_ms)) continue;
    if (!is_at_least(level_of(line), wanted.level)) continue;
    if (!wanted.search.empty() && line.message.find(wanted.search) == std::string::npos) continue;
    lines.push_back(&line);
  }
  if (wanted.backward) std::reverse(lines.begin(), lines.end());
  if (lines.size() > static_cast<size_t>(wanted.limit)) lines.resize(static_cast<size_t>(wanted.limit));
  json::array entries;
  for (const LogLine* line : lines) {
    const std::string time = time_of(line->time);
    const json::object said{{"level", level_of(*line)}, {"message", line->message}};
    plain.push_back(json::object{{"timestamp", time}, {"line", json::serialize(said)}});  // which E2B's CLI parses
    json::object entry = said;
    entry["timestamp"] = time;
    entry["fields"] = json::object();
    entries.push_back(std::move(entry));
  }
  return entries;
}

Task<Result<Wanted>> wanted_of(const HttpRequest& request, const char* start) {
  Wanted wanted;
  BJ_CO_TRY(wanted.start_ms, number_of(request, start));
  BJ_CO_TRY(const std::optional<int64_t> limit, number_of(request, "limit"));
  wanted.limit = std::clamp<int64_t>(limit.value_or(kMostLogLines), 0, kMostLogLines);
  wanted.backward = query_text(request, "direction").value_or("") == "backward";
  wanted.level = query_text(request, "level").value_or("");
  BJ_CO_CHECK(check_log_level(wanted.level));
  wanted.search = query_text(request, "search").value_or("");
  co_return wanted;
}

Task<Result<HttpResponse>> logs(const Services& services, HttpRequest& request) {
  BJ_CO_TRY(const SandboxRow row, co_await living_row(services, request));
  BJ_CO_TRY(const Wanted wanted, co_await wanted_of(request, "start"));
  json::array plain, entries;
  if (const auto sandbox = co_await services.manager.held(row.organization, row.id))
    entries = lines_of(**sandbox, wanted, plain);
  co_return json_response(200, json::object{{"logs", std::move(plain)}, {"logEntries", std::move(entries)}});
}

Task<Result<HttpResponse>> logs_second(const Services& services, HttpRequest& request) {
  BJ_CO_TRY(const SandboxRow row, co_await living_row(services, request));
  BJ_CO_TRY(const Wanted wanted, co_await wanted_of(request, "cursor"));
  json::array plain, entries;
  if (const auto sandbox = co_await services.manager.held(row.organization, row.id))
    entries = lines_of(**sandbox, wanted, plain);
  co_return json_response(200, json::object{{"logs", std::move(entries)}});
}

}  // namespace

void add_insight_routes(Router& router, const Services& services) {
  add_route(router, services, Method::kGet, "/sandboxes/metrics", metrics_of_many, "What sandboxes use now");
  add_route(router, services, Method::kGet, "/sandboxes/{sandboxID}/metrics", metrics, "What it used lately");
  add_route(router, services, Method::kGet, "/sandboxes/{sandboxID}/logs", logs, "What happened to it");
  add_route(router, services, Method::kGet, "/v2/sandboxes/{sandboxID}/logs", logs_second, "What happened to it");
}

}  // namespace bj::e2b
