#include "tools/catalog.h"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "tools/fingerprint.h"
#include "tools/tool_rules.h"

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

json::object object_in(const MaybeText& text) {
  json::error_code bad;
  json::value value = text ? json::parse(*text, bad) : json::value();
  return value.is_object() ? value.get_object() : json::object();
}

Requirements requirements_in(const MaybeText& text) {
  json::error_code bad;
  FieldErrors errors;
  return text ? read_requirements(json::parse(*text, bad), {}, errors) : Requirements();
}

MaybeText text_at(const json::object& object, const char* key) {
  const json::value* const value = object.if_contains(key);
  return value != nullptr && value->is_string() ? MaybeText(std::string(value->get_string())) : MaybeText();
}

// tool_hash is ours to set; `sandbox` says where the tool wants to run.
void set_metadata(ToolRow& tool, json::object metadata, bool on_modal) {
  metadata["tool_hash"] = tool_hash({tool.source_code.value_or(""), tool.source_type, requirements_in(tool.pip_requirements),
                                     requirements_in(tool.npm_requirements)});
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

Result<void> apply(const ToolPatch& patch, const std::optional<json::object>& schema, ToolRow& tool) {
  if (patch.source_type) tool.source_type = *patch.source_type;
  if (patch.description) tool.description = *patch.description;
  if (patch.tags) tool.tags = tags_text(*patch.tags);
  if (patch.return_char_limit) tool.return_char_limit = *patch.return_char_limit;
  if (patch.pip_requirements) tool.pip_requirements = text_of(patch.pip_requirements);
  if (patch.npm_requirements) tool.npm_requirements = text_of(patch.npm_requirements);
  if (patch.default_requires_approval) tool.default_requires_approval = patch.default_requires_approval;
  if (patch.enable_parallel_execution) tool.enable_parallel_execution = *patch.enable_parallel_execution;
  if (patch.args_json_schema) tool.args_json_schema = text_of(patch.args_json_schema);
  if (schema) BJ_CHECK(take_schema(tool, *schema));
  if (patch.source_code) {
    BJ_CHECK(check_source_has(tool.name, *patch.source_code, tool.source_type));
    tool.source_code = *patch.source_code;
  }
  set_metadata(tool, patch.metadata ? *patch.metadata : object_in(tool.metadata), patch.on_modal);
  return {};
}

}  // namespace

Task<Result<ToolRow>> ToolCatalog::make(ToolDraft draft, std::string name) {
  ToolRow tool;
  tool.name = std::move(name);
  tool.source_code = draft.source_code;
  tool.source_type = draft.source_type;
  tool.description = draft.description;
  tool.tags = tags_text(draft.tags);
  tool.args_json_schema = text_of(draft.args_json_schema);
  tool.json_schema = text_of(draft.json_schema);
  tool.return_char_limit = draft.return_char_limit;
  tool.pip_requirements = text_of(draft.pip_requirements);
  tool.npm_requirements = text_of(draft.npm_requirements);
  tool.default_requires_approval = draft.default_requires_approval;
  tool.enable_parallel_execution = draft.enable_parallel_execution;
  tool.project_id = draft.project_id;
  set_metadata(tool, {}, draft.on_modal);
  if (!tool.name.empty()) co_return tool;
  if (!draft.json_schema) {
    SchemaQuestion question{draft.source_code, draft.source_type, "", nullptr};
    if (draft.args_json_schema) question.args_json_schema = *draft.args_json_schema;
    BJ_CO_TRY(draft.json_schema, co_await deriver_.derive(std::move(question)));
  }
  BJ_CO_CHECK(take_schema(tool, *draft.json_schema));
  co_return tool;
}

Task<Result<ToolRow>> ToolCatalog::put(Actor actor, ToolDraft draft) {
  BJ_CO_CHECK(check_draft(draft.source_type, draft.json_schema.has_value(), draft.return_char_limit));
  BJ_CO_TRY(const ToolRow tool, co_await make(std::move(draft), ""));
  const auto upsert = [this, &actor, &tool] { return store_.tools().upsert(actor, tool); };
  co_return co_await offload(threads_, upsert);
}

Task<Result<ToolRow>> ToolCatalog::patch(Actor actor, std::string id, ToolPatch patch) {
  const auto get = [this, &actor, &id] { return store_.tools().get(actor.organization, id); };
  BJ_CO_TRY(const ToolRow now, co_await offload(threads_, get));
  std::optional<json::object> schema = patch.json_schema;
  if (!schema && patch.args_json_schema) {
    SchemaQuestion question{patch.source_code.value_or(now.source_code.value_or("")),
                            patch.source_type.value_or(now.source_type), now.name, *patch.args_json_schema};
    BJ_CO_TRY(schema, co_await deriver_.derive(std::move(question)));
  }
  const auto edit = [&patch, &schema](ToolRow& tool) { return apply(patch, schema, tool); };
  const auto change = [this, &actor, &id, &edit] { return store_.tools().change(actor, id, edit); };
  co_return co_await offload(threads_, change);
}

}  // namespace bj
