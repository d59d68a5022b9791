#include "api/native/sandbox_json.h"

#include <boost/json/array.hpp>

#include "api/time_text.h"
#include "base/utf8.h"
#include "tools/stored_json.h"

namespace bj::native {
namespace {

namespace json = boost::json;

json::value time_or_null(const std::optional<int64_t>& time) {
  return time ? json::value(time_text(*time)) : json::value(nullptr);
}

const char* kind_name(FileKind kind) {
  switch (kind) {
    case FileKind::kFile: return "file";
    case FileKind::kDirectory: return "directory";
    case FileKind::kLink: return "symlink";
    case FileKind::kOther: break;
  }
  return "other";
}

double milliseconds(double ms) { return static_cast<double>(static_cast<int64_t>(ms * 1000)) / 1000; }

}  // namespace

json::object sandbox_json(const SandboxRow& row) {
  const SandboxWishes wishes = wishes_of(row.options);
  json::array volumes;
  for (const VolumeWish& volume : wishes.volumes)
    volumes.push_back(
        json::object{{"id", volume.id}, {"name", volume.name}, {"path", volume.path}, {"read_only", volume.read_only}});
  return {{"id", row.id},
          {"template", row.template_name},
          {"state", row.state},
          {"reason", row.reason},
          {"kept", row.kept || !row.spare_image.empty()},
          {"timeout", row.timeout_s},
          {"on_timeout", row.on_timeout},
          {"created_at", time_text(row.created_at)},
          {"started_at", time_or_null(row.started_at)},
          {"end_at", time_text(row.end_at)},
          {"ended_at", time_or_null(row.ended_at)},
          {"user", row.inside_user.empty() ? json::value(nullptr) : json::value(row.inside_user)},
          {"limits",
           {{"cpus", row.cpus},
            {"memory_bytes", row.memory_bytes},
            {"disk_bytes", row.disk_bytes},
            {"processes", row.processes}}},
          {"network", stored_json(row.network)},
          {"credentials", stored_json(row.credentials)},
          {"metadata", stored_json(row.metadata)},
          {"volumes", std::move(volumes)},
          {"git_url", wishes.git.url.empty() ? json::value(nullptr) : json::value(wishes.git.url)},
          {"extend_on_activity", wishes.extend_on_activity}};
}

json::object snapshot_json(const SnapshotView& snapshot) {
  const TemplateView& view = snapshot.view;
  return {{"id", view.row.id},
          {"name", view.names.empty() ? json::value(nullptr) : json::value(view.names.front())},
          {"sandbox", view.row.sandbox ? json::value(*view.row.sandbox) : json::value(nullptr)},
          {"size_bytes", snapshot.size_bytes},
          {"created_at", time_text(view.row.created_at)}};
}

json::object metrics_json(const SandboxMetrics& metrics) {
  return {{"cpus", metrics.cpus},
          {"cpu_seconds", static_cast<double>(metrics.cpu_ns) / 1e9},
          {"memory_bytes", metrics.memory_bytes},
          {"memory_limit_bytes", metrics.memory_limit_bytes},
          {"cache_bytes", metrics.cache_bytes},
          {"disk_bytes", metrics.disk_bytes},
          {"disk_limit_bytes", metrics.disk_limit_bytes},
          {"processes", metrics.processes},
          {"memory_kills", metrics.memory_kills}};
}

json::object end_json(const CommandResult& result) {
  return {{"exit_status", result.exit_status},
          {"signal", result.signal == 0 ? json::value(nullptr) : json::value(result.signal)},
          {"timed_out", result.timed_out},
          {"lost", result.lost},
          {"duration_ms", milliseconds(result.duration_ms)}};
}

json::object command_json(int pid, const CommandResult& result) {
  json::object object = end_json(result);
  object["pid"] = pid;
  object["stdout"] = valid_utf8(result.output.text);
  object["stderr"] = valid_utf8(result.error.text);
  object["stdout_dropped"] = result.output.dropped;
  object["stderr_dropped"] = result.error.dropped;
  return object;
}

json::object process_json(const LiveProcess& process) {
  json::array arguments;
  for (const std::string& argument : process.spec().arguments) arguments.emplace_back(valid_utf8(argument));
  json::object object{{"pid", process.pid()},
                      {"tag", process.tag().empty() ? json::value(nullptr) : json::value(valid_utf8(process.tag()))},
                      {"command", std::move(arguments)},
                      {"terminal", process.spec().terminal},
                      {"running", !process.over()},
                      {"output_begin", process.output().begin()},
                      {"output_end", process.output().end()},
                      {"end", nullptr}};
  if (process.over()) object["end"] = end_json(CommandRunner::result_of(process));
  return object;
}

json::object file_json(const FileInfo& file) {
  return {{"path", valid_utf8(file.path)},
          {"name", valid_utf8(file.name)},
          {"type", kind_name(file.kind)},
          {"size", file.size},
          {"mode", file.mode},
          {"uid", file.uid},
          {"gid", file.gid},
          {"modified_at", time_text(file.modified_us)},
          {"target", file.kind == FileKind::kLink ? json::value(valid_utf8(file.link_target)) : json::value(nullptr)}};
}

}  // namespace bj::native
