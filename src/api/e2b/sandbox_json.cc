#include "api/e2b/sandbox_json.h"

#include <boost/json/array.hpp>
#include <cmath>

#include "api/time_text.h"
#include "tools/stored_json.h"

namespace bj::e2b {
namespace {

namespace json = boost::json;

int64_t whole_cpus(double cpus) { return std::max<int64_t>(1, static_cast<int64_t>(std::ceil(cpus))); }

}  // namespace

std::string time_of(int64_t microseconds) { return time_text(microseconds); }

bool is_secure(const SandboxRow& row) {
  const json::object details = stored_object(row.details);
  const json::value* const secure = details.if_contains("secure");
  return secure == nullptr || !secure->is_bool() || secure->get_bool();
}

json::object sandbox_json(const Services& services, const SandboxRow& row) {
  json::object answer{{"sandboxID", row.id},         {"templateID", row.template_name}, {"clientID", kClientId},
                      {"envdVersion", kEnvdVersion}, {"alias", row.template_name},      {"domain", services.domain}};
  if (is_secure(row)) answer["envdAccessToken"] = services.tokens.control(row.id);
  answer["trafficAccessToken"] =
      row.access == "token" ? json::value(services.tokens.traffic(row.id)) : json::value(nullptr);
  return answer;
}

json::object listed_json(const SandboxRow& row) {
  json::array mounts;
  for (const VolumeWish& volume : wishes_of(row.options).volumes)
    mounts.push_back(json::object{{"name", volume.name}, {"path", volume.path}});
  return {{"sandboxID", row.id},
          {"templateID", row.template_name},
          {"alias", row.template_name},
          {"clientID", kClientId},
          {"startedAt", time_of(row.started_at.value_or(row.created_at))},
          {"endAt", time_of(row.end_at)},
          {"state", is_paused(row) ? "paused" : "running"},
          {"cpuCount", whole_cpus(row.cpus)},
          {"memoryMB", row.memory_bytes >> 20},
          {"diskSizeMB", row.disk_bytes >> 20},
          {"envdVersion", kEnvdVersion},
          {"metadata", stored_json(row.metadata)},
          {"volumeMounts", std::move(mounts)}};
}

json::object detail_json(const Services& services, const SandboxRow& row, const Actor& actor) {
  json::object answer = listed_json(row);
  const json::object details = stored_object(row.details);
  if (is_secure(row) && actor.role != Role::kReadOnly) answer["envdAccessToken"] = services.tokens.control(row.id);
  answer["domain"] = services.domain;
  const json::value* const internet = details.if_contains("internet");
  answer["allowInternetAccess"] = internet == nullptr ? json::value(nullptr) : *internet;
  if (const json::value* const network = details.if_contains("network")) answer["network"] = *network;
  answer["lifecycle"] = {{"onTimeout", row.on_timeout == "kill" ? "kill" : "pause"}, {"autoResume", row.wakes}};
  return answer;
}

json::object metric_json(const MetricPoint& point) {
  const SandboxMetrics& used = point.metrics;
  return {{"timestamp", time_of(point.time)},
          {"timestampUnix", point.time / 1'000'000},
          {"cpuCount", whole_cpus(used.cpus)},
          {"cpuUsedPct", point.cpu_percent},
          {"memUsed", used.memory_bytes - std::min(used.memory_bytes, used.cache_bytes)},
          {"memTotal", used.memory_limit_bytes},
          {"memCache", used.cache_bytes},
          {"diskUsed", used.disk_bytes},
          {"diskTotal", used.disk_limit_bytes}};
}

}  // namespace bj::e2b
