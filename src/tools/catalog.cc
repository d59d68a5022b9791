#include "tools/catalog.h"

#include <boost/json/serialize.hpp>

#include "tools/fingerprint.h"
#include "tools/network_layers.h"
#include "tools/stored_json.h"

namespace bj {
namespace {

namespace json = boost::json;

MaybeText text_of(const std::optional<json::object>& object) {
  return object ? MaybeText(json::serialize(*object)) : MaybeText();
}

MaybeText text_of(const std::optional<Requirements>& list) {
  return list ? MaybeText(json::serialize(requirements_json(*list))) : MaybeText();
}

std::string tags_text(const std::vector<std::string>& tags) {
  return json::serialize(json::array(tags.begin(), tags.end()));
}

Requirements requirements_in(const MaybeText& text) {
  FieldErrors errors;
  return text ? read_requirements(stored_json(text), {}, errors) : Requirements();
}

MaybeText text_at(const json::object& object, const char* key) {
  const json::value* const value = object.if_contains(key);
  return value != nullptr && value->is_string() ? MaybeText(std::string(value->get_string())) : MaybeText();
}

// tool_hash is ours to set; `sandbox` says where the tool wants to run.
void set_metadata(ToolRow& tool, json::object metadata, bool on_modal) {
  metadata["tool_hash"] = tool_hash({tool.source_code.value_or(""), tool.source_type,
                                     requirements_in(tool.pip_requirements), requirements_in(tool.npm_requirements)});
  if (on_modal) metadata["sandbox"] = "modal";
  tool.metadata = json::serialize(metadata);
}

// Name and description, which the schema decides unless something else was given.
Result<void> take_schema(ToolRow& tool, const json::object& schema) {
  BJ_TRY(tool.name, schema_name(schema));
  tool.json_schema = json::serialize(schema);
  if (!tool.description) tool.description = text_at(schema, "description");
  return {};
}

Result<void> apply(const ToolUpdate& patch, const std::optional<json::object>& schema, bool on_modal, ToolRow& tool) {
  if (patch.metadata) BJ_CHECK(check_network_wish(*patch.metadata, "tool"));
  if (patch.source_type) tool.source_type = *patch.source_type;
  if (patch.description) tool.description = *patch.description;
  if (patch.tags) tool.tags = tags_text(*patch.tags);
  if (patch.return_char_limit) tool.return_char_limit = *patch.return_char_limit;
  if (patch.pip) tool.pip_requirements = text_of(patch.pip);
  if (patch.npm) tool.npm_requirements = text_of(patch.npm);
  if (patch.default_requires_approval) tool.default_requires_approval = patch.default_requires_approval;
  if (patch.enable_parallel_execution) tool.enable_parallel_execution = *patch.enable_parallel_execution;
  if (patch.args_json_schema) tool.args_json_schema = text_of(patch.args_json_schema);
  if (schema) BJ_CHECK(take_schema(tool, *schema));
  if (patch.source_code) {
    BJ_CHECK(check_source_has_function(*patch.source_code, tool.source_type, tool.name));
    tool.source_code = *patch.source_code;
  }
  set_metadata(tool, patch.metadata ? *patch.metadata : stored_object(tool.metadata), on_modal);
  return {};
}

ToolRow row_of(const ToolCreate& draft, const ToolCircumstances& circumstances) {
  ToolRow tool;
  tool.source_code = draft.source_code;
  tool.source_type = draft.source_type;
  tool.description = draft.description;
  tool.tags = tags_text(draft.tags.value_or(std::vector<std::string>()));
  tool.args_json_schema = text_of(draft.args_json_schema);
  tool.return_char_limit = draft.return_char_limit;
  tool.pip_requirements = text_of(draft.pip);
  tool.npm_requirements = text_of(draft.npm);
  tool.default_requires_approval = draft.default_requires_approval;
  tool.enable_parallel_execution = draft.enable_parallel_execution;
  tool.project_id = circumstances.project_id;
  set_metadata(tool, {}, circumstances.on_modal);
  return tool;
}

}  // namespace

Task<Result<json::object>> ToolCatalog::schema_of(std::optional<json::object> given, SchemaQuestion question) {
  if (given) co_return std::move(*given);
  co_return co_await deriver_.derive(std::move(question));
}

Task<Result<ToolRow>> ToolCatalog::with_receipt(Actor actor, const char* action, ToolRow tool) {
  json::object detail{{"name", short_name(tool.name)}};
  const json::object metadata = stored_object(tool.metadata);
  if (const json::value* const hash = metadata.if_contains("tool_hash")) detail["tool_hash"] = *hash;
  BJ_CO_CHECK(co_await audit_.act(std::move(actor), action, tool.id, std::move(detail)));
  co_return tool;
}

Task<Result<ToolRow>> ToolCatalog::make(ToolRunFromSource run) {
  BJ_CO_CHECK(check_runnable(run.source_type));
  ToolRow tool;
  tool.name = run.name.value_or("");
  tool.source_code = run.source_code;
  tool.source_type = run.source_type.value_or("python");
  tool.json_schema = text_of(run.json_schema);
  if (!run.json_schema) tool.args_json_schema = text_of(run.args_json_schema);
  tool.pip_requirements = text_of(run.pip);
  tool.npm_requirements = text_of(run.npm);
  if (!tool.name.empty()) co_return tool;
  SchemaQuestion question{run.source_code, tool.source_type, "", nullptr};
  if (run.args_json_schema) question.args_json_schema = *run.args_json_schema;
  BJ_CO_TRY(const json::object schema, co_await schema_of(std::move(run.json_schema), std::move(question)));
  BJ_CO_CHECK(take_schema(tool, schema));
  co_return tool;
}

Task<Result<ToolRow>> ToolCatalog::put(Actor actor, ToolCreate draft, ToolCircumstances circumstances) {
  ToolRow tool = row_of(draft, circumstances);
  SchemaQuestion question{draft.source_code, draft.source_type, "", nullptr};
  if (draft.args_json_schema) question.args_json_schema = *draft.args_json_schema;
  BJ_CO_TRY(const json::object schema, co_await schema_of(std::move(draft.json_schema), std::move(question)));
  BJ_CO_CHECK(take_schema(tool, schema));
  const auto upsert = [this, &actor, &tool] { return store_.tools().upsert(actor, tool); };
  BJ_CO_TRY(ToolRow stored, co_await offload(threads_, upsert));
  co_return co_await with_receipt(std::move(actor), "tool.put", std::move(stored));
}

Task<Result<ToolRow>> ToolCatalog::patch(Actor actor, std::string id, ToolUpdate patch,
                                         ToolCircumstances circumstances) {
  const auto get = [this, &actor, &id] { return store_.tools().get(actor.organization, id); };
  BJ_CO_TRY(const ToolRow now, co_await offload(threads_, get));
  std::optional<json::object> schema = patch.json_schema;
  if (!schema && patch.args_json_schema) {
    SchemaQuestion question{patch.source_code.value_or(now.source_code.value_or("")),
                            patch.source_type.value_or(now.source_type), now.name, *patch.args_json_schema};
    BJ_CO_TRY(schema, co_await deriver_.derive(std::move(question)));
  }
  const auto edit = [&](ToolRow& tool) { return apply(patch, schema, circumstances.on_modal, tool); };
  const auto change = [this, &actor, &id, &edit] { return store_.tools().change(actor, id, edit); };
  Result<ToolRow> stored = co_await offload(threads_, change);
  if (!stored && stored.error().code == Code::kConflict) {
    co_return fail(Code::kInvalid, "there is another tool of the name that the json_schema has");
  }
  if (!stored) co_return tl::unexpected(stored.error());
  co_return co_await with_receipt(std::move(actor), "tool.change", std::move(*stored));
}

}  // namespace bj
