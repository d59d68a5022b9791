#include "api/e2b/sandbox_json.h"

#include <boost/json/array.hpp>
#include <cmath>

#include "api/time_text.h"
#include "control/lifecycle.h"
#include "control/sandbox_image.h"
#include "control/template_reference.h"
#include "tools/stored_json.h"

namespace bj::e2b {
namespace {

namespace json = boost::json;

int64_t whole_cpus(double cpus) { return std::max<int64_t>(1, static_cast<int64_t>(std::ceil(cpus))); }

// The name without namespace and tag; one that was asked for by its id has the template's.
std::string plain_name(const SandboxRow& row) {
  const Result<TemplateReference> reference = parse_template_reference(row.template_name);
  if (!reference) return row.template_name;
  if (!is_template_id(reference->name)) return reference->name;
  const Result<SandboxImage> image = image_of(row);
  return image ? image->template_name : "";
}

void add_template(json::object& answer, const SandboxRow& row) {
  answer["templateID"] = template_id_of(row);
  if (const std::string alias = plain_name(row); !alias.empty()) answer["alias"] = alias;
}

}  // namespace

std::string template_id_of(const SandboxRow& row) {
  const Result<SandboxImage> image = image_of(row);
  if (image && !image->template_id.empty()) return image->template_id;
  const Result<TemplateReference> reference = parse_template_reference(row.template_name);
  return reference ? machine_template_id(reference->name) : row.template_name;
}

SandboxEnvironment own_variables(const SandboxRow& row) {
  return {{"E2B_SANDBOX", "true"}, {"E2B_SANDBOX_ID", row.id}, {"E2B_TEMPLATE_ID", template_id_of(row)}};
}

std::string time_of(int64_t microseconds) { return time_text(microseconds); }

bool is_secure(const SandboxRow& row) {
  const json::object details = stored_object(row.details);
  const json::value* const secure = details.if_contains("secure");
  return secure == nullptr || !secure->is_bool() || secure->get_bool();
}

json::object sandbox_json(const Services& services, const SandboxRow& row) {
  json::object answer{
      {"sandboxID", row.id}, {"clientID", kClientId}, {"envdVersion", kEnvdVersion}, {"domain", services.domain}};
  add_template(answer, row);
  if (is_secure(row)) answer["envdAccessToken"] = services.tokens.control(row.id);
  answer["trafficAccessToken"] =
      row.access == "token" ? json::value(services.tokens.traffic(row.id)) : json::value(nullptr);
  return answer;
}

json::object listed_json(const SandboxRow& row) {
  json::array mounts;
  for (const VolumeWish& volume : wishes_of(row.options).volumes)
    mounts.push_back(json::object{{"name", volume.name}, {"path", volume.path}});
  // It starts when it is asked for: lists are in that order, and startedAfter is of that time.
  json::object answer{{"sandboxID", row.id},
                      {"clientID", kClientId},
                      {"startedAt", time_of(row.created_at)},
                      {"endAt", time_of(row.end_at)},
                      {"state", is_paused(row) ? "paused" : "running"},
                      {"cpuCount", whole_cpus(row.cpus)},
                      {"memoryMB", row.memory_bytes >> 20},
                      {"diskSizeMB", row.disk_bytes >> 20},
                      {"envdVersion", kEnvdVersion},
                      {"metadata", stored_json(row.metadata)},
                      {"volumeMounts", std::move(mounts)}};
  add_template(answer, row);
  return answer;
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
  if (is_paused(row)) answer["pauseMode"] = row.state == state_name(SandboxState::kPaused) ? "full" : "filesystem";
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
