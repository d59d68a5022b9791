#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "api/handler.h"
#include "api/native/registry_login.h"
#include "api/native/template_routes.h"
#include "api/time_text.h"
#include "control/dockerfile.h"
#include "tools/network_layers.h"
#include "tools/stored_json.h"

namespace bj::native {
namespace {

namespace json = boost::json;

json::value maybe_text(const std::string& text) { return text.empty() ? json::value(nullptr) : json::value(text); }

json::value time_or_null(const std::optional<int64_t>& time) {
  return time && *time != 0 ? json::value(time_text(*time)) : json::value(nullptr);
}

// One of {"type", "args", "files", "force"}.
void read_step(const json::value& value, json::array loc, FieldErrors& errors, BuildRequest& request) {
  ModelReader reader(value, std::move(loc), errors);
  const std::string type = reader.string("type");
  std::vector<std::string> arguments = reader.optional_strings("args").value_or(std::vector<std::string>());
  std::string files = reader.optional_string("files").value_or("");
  const bool force = reader.boolean_or("force", false);
  reader.finish(UnknownKeys::kForbid);
  if (!errors.empty()) return;
  Result<BuildStep> step = make_step(type, std::move(arguments), std::move(files), force);
  if (step) {
    request.steps.push_back(std::move(*step));
  } else {
    reader.wrong("type", {"value_error", step.error().what}, value);
  }
}

void read_steps(ModelReader& reader, BuildRequest& request) {
  const json::value* const steps = reader.take("steps", NullCounts::kAsAbsent);
  if (steps == nullptr) return;
  if (!steps->is_array()) return reader.wrong("steps", {"list_type", "Input should be a valid list"}, *steps);
  size_t place = 0;
  for (const json::value& step : steps->get_array()) {
    if (are_enough(reader.errors())) break;
    json::array loc = reader.loc("steps");
    loc.emplace_back(place++);
    read_step(step, std::move(loc), reader.errors(), request);
  }
}

// A Dockerfile's COPY needs files that were uploaded: "files" maps "source" to the hash.
void read_dockerfile(ModelReader& reader, BuildRequest& request, TemplateCatalog::NewBuild& wanted) {
  const std::optional<std::string> text = reader.optional_string("dockerfile");
  const auto files = reader.optional_string_map("files").value_or(std::map<std::string, std::string>());
  if (!text) return;
  const auto refuse = [&](const std::string& why) {
    reader.wrong("dockerfile", {"value_error", why}, json::value(*text));
  };
  Result<ParsedDockerfile> parsed = parse_dockerfile(*text);
  if (!parsed) return refuse(parsed.error().what);
  for (BuildStep& step : parsed->steps) {
    const auto uploaded = files.find(step.arguments.front());
    if (step.kind == StepKind::kCopy && uploaded != files.end()) step.files = uploaded->second;
    Result<BuildStep> checked = make_step(step_name(step.kind), step.arguments, step.files, false);
    if (!checked) return refuse(checked.error().what);
    request.steps.push_back(std::move(*checked));
  }
  if (request.from_template.empty() && request.from_image.empty()) {
    const bool image = parsed->from.find_first_of("./:") != std::string::npos;
    (image ? request.from_image : request.from_template) = parsed->from;
  }
  if (!wanted.network) wanted.network = parsed->network;
  if (request.start_command.empty()) request.start_command = parsed->start_command;
  if (request.ready_command.empty()) request.ready_command = parsed->ready_command;
}

BuildBody read_build_body(ModelReader& reader) {
  BuildBody body;
  body.wanted.name = reader.string("name", 1);
  body.wanted.tags = reader.optional_strings("tags").value_or(std::vector<std::string>());
  if (const json::value* const cpus = reader.take("cpus", NullCounts::kAsAbsent); cpus != nullptr) {
    if (cpus->is_number()) body.wanted.cpus = cpus->to_number<double>();
    if (!cpus->is_number()) reader.wrong("cpus", {"float_type", "Input should be a valid number"}, *cpus);
  }
  body.wanted.memory_bytes = reader.optional_integer("memory_bytes", {0, int64_t{1} << 40}).value_or(0);
  body.request.from_template = reader.optional_string("from_template").value_or("");
  body.request.from_image = reader.optional_string("from_image").value_or("");
  body.request.start_command = reader.optional_string("start_command").value_or("");
  body.request.ready_command = reader.optional_string("ready_command").value_or("");
  body.request.force = reader.boolean_or("force", false);
  read_steps(reader, body.request);
  if (const json::value* const network = reader.take("network", NullCounts::kAsAbsent))
    body.wanted.network = json::serialize(*network);
  read_dockerfile(reader, body.request, body.wanted);
  read_registry(reader, body.login);
  return body;
}

}  // namespace

json::object build_json(const TemplateBuildRow& build) {
  json::value reason = nullptr;
  if (build.status == "error")
    reason = json::object{{"step", maybe_text(build.reason_step)}, {"message", build.reason_message}};
  return {{"id", build.id},
          {"template_id", build.template_id},
          {"status", build.status},
          {"reason", std::move(reason)},
          {"tags", stored_json(build.tags)},
          {"created_at", time_text(build.created_at)},
          {"finished_at", time_or_null(build.finished_at)}};
}

json::object template_json(const TemplateView& view) {
  const TemplateRow& row = view.row;
  const bool machine = row.organization.empty();
  return {{"id", row.id},
          {"names", json::array(view.names.begin(), view.names.end())},
          {"kind", machine ? "machine" : row.kind},
          {"public", row.is_public},
          {"cpus", row.cpus > 0 ? json::value(row.cpus) : json::value(nullptr)},
          {"memory_bytes", row.memory_bytes > 0 ? json::value(row.memory_bytes) : json::value(nullptr)},
          {"network", stored_json(row.network)},
          {"builds", view.builds},
          {"status", machine       ? "ready"
                     : view.newest ? view.newest->status
                                   : "waiting"},
          {"created_at", time_or_null(row.created_at)},
          {"updated_at", time_or_null(row.updated_at)}};
}

json::object log_json(const BuildLogRow& entry) {
  return {{"position", entry.position},
          {"time", time_text(entry.time)},
          {"level", entry.level},
          {"step", maybe_text(entry.step)},
          {"message", entry.message}};
}

Result<BuildBody> read_build(const HttpRequest& request) {
  BJ_TRY(BuildBody body, read_body(request, UnknownKeys::kForbid, read_build_body));
  if (body.wanted.network) BJ_CHECK(check_template_policy(stored_json(body.wanted.network)));
  return body;
}

}  // namespace bj::native
