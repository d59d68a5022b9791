#include "api/letta/shapes.h"

#include <chrono>

#include "api/time_text.h"
#include "tools/python_text.h"
#include "tools/stored_json.h"

namespace bj::letta {
namespace {

namespace json = boost::json;

json::value text_or_null(const MaybeText& text) { return text ? json::value(*text) : json::value(nullptr); }

void add_stamp(json::object& object, const Stamp& stamp) {
  object["created_by_id"] = text_or_null(stamp.created_by);
  object["last_updated_by_id"] = text_or_null(stamp.updated_by);
  object["created_at"] = time_text(stamp.created_at);
  object["updated_at"] = time_text(stamp.updated_at);
}

json::object variable_json(const VariableRow& variable, const char* owner, Secrets secrets) {
  const bool shown = secrets == Secrets::kShown;
  json::object object{{"id", variable.id},
                      {"key", variable.key},
                      {"value", shown ? variable.value.reveal() : "********"},
                      {"description", text_or_null(variable.description)},
                      {"organization_id", variable.organization},
                      {"value_enc", shown ? text_or_null(variable.value_enc) : json::value(nullptr)},
                      {owner, variable.owner}};
  add_stamp(object, variable.stamp);
  return object;
}

// A version that was not given is null.
json::value requirements_shown(const MaybeText& stored) {
  json::value list = stored_json(stored);
  if (json::array* const items = list.if_array()) {
    for (json::value& item : *items) {
      if (json::object* const requirement = item.if_object()) requirement->emplace("version", nullptr);
    }
  }
  return list;
}

json::array texts(const std::vector<std::string>& list) { return json::array(list.begin(), list.end()); }

}  // namespace

json::object tool_json(const ToolRow& tool) {
  json::object object{
      {"id", tool.id},
      {"tool_type", tool.tool_type},
      {"name", tool.name},
      {"description", text_or_null(tool.description)},
      {"source_type", tool.source_type},
      {"source_code", text_or_null(tool.source_code)},
      {"json_schema", stored_json(tool.json_schema)},
      {"args_json_schema", stored_json(tool.args_json_schema)},
      {"tags", stored_json(tool.tags)},
      {"return_char_limit", tool.return_char_limit},
      {"pip_requirements", requirements_shown(tool.pip_requirements)},
      {"npm_requirements", requirements_shown(tool.npm_requirements)},
      {"default_requires_approval",
       tool.default_requires_approval ? json::value(*tool.default_requires_approval) : json::value(nullptr)},
      {"enable_parallel_execution", tool.enable_parallel_execution},
      {"metadata_", stored_json(tool.metadata)},
      {"project_id", text_or_null(tool.project_id)}};
  object["created_by_id"] = text_or_null(tool.stamp.created_by);
  object["last_updated_by_id"] = text_or_null(tool.stamp.updated_by);
  return object;
}

json::array tools_json(const std::vector<ToolRow>& tools) {
  json::array all;
  for (const ToolRow& tool : tools) all.push_back(tool_json(tool));
  return all;
}

json::object config_json(const SandboxConfigRow& config) {
  json::object object{{"id", config.id},
                      {"type", config.type},
                      {"organization_id", config.organization},
                      {"config", stored_json(config.config)}};
  add_stamp(object, config.stamp);
  return object;
}

Secrets shown_to(const Actor& actor) { return actor.role == Role::kReadOnly ? Secrets::kMasked : Secrets::kShown; }

json::object sandbox_variable_json(const VariableRow& variable, Secrets secrets) {
  return variable_json(variable, "sandbox_config_id", secrets);
}

json::object block_json(const BlockRow& block) {
  json::object object{{"id", block.id},
                      {"label", block.label},
                      {"value", block.value},
                      {"limit", block.limit},
                      {"description", text_or_null(block.description)},
                      {"read_only", block.read_only},
                      {"is_template", false},
                      {"metadata", stored_json(block.metadata)},
                      {"tags", json::array()}};
  add_stamp(object, block.stamp);
  return object;
}

json::object agent_json(const WholeAgent& agent, Secrets secrets) {
  json::array blocks, variables;
  for (const BlockRow& block : agent.blocks) blocks.push_back(block_json(block));
  for (const VariableRow& variable : agent.variables) variables.push_back(variable_json(variable, "agent_id", secrets));
  json::object object{{"id", agent.row.id},
                      {"name", agent.row.name},
                      {"description", text_or_null(agent.row.description)},
                      {"system", agent.row.system.value_or("")},
                      {"agent_type", agent.row.agent_type},
                      {"tags", stored_json(agent.row.tags)},
                      {"metadata", stored_json(agent.row.metadata)},
                      {"project_id", text_or_null(agent.row.project_id)},
                      {"memory", {{"blocks", blocks}}},
                      {"sources", json::array()},
                      {"tool_rules", json::array()},
                      // Belljar runs tools, not models; clients want the fields to be there.
                      {"llm_config", {{"model", "none"}, {"model_endpoint_type", "openai"}, {"context_window", 0}}},
                      {"embedding_config", nullptr}};
  object["blocks"] = std::move(blocks);
  object["tools"] = tools_json(agent.tools);
  object["tool_exec_environment_variables"] = variables;
  object["secrets"] = std::move(variables);
  add_stamp(object, agent.row.stamp);
  return object;
}

json::object execution_json(const RunOutcome& outcome) {
  return {{"status", outcome.success ? "success" : "error"},
          {"func_return", outcome.value},
          {"agent_state", nullptr},
          {"stdout", texts(outcome.output)},
          {"stderr", texts(outcome.error_output)},
          {"sandbox_config_fingerprint", text_or_null(outcome.fingerprint)}};
}

json::object return_message_json(const RunOutcome& outcome, const json::value& name) {
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch());
  const std::string date = time_text(seconds.count() * 1'000'000).substr(0, 19) + "+00:00";
  const char* const status = outcome.success ? "success" : "error";
  const std::string text = outcome.value_text ? *outcome.value_text : python_str(outcome.value);
  const json::array output = texts(outcome.output), error_output = texts(outcome.error_output);
  const json::object one{{"type", "tool"},         {"tool_return", text}, {"status", status},
                         {"tool_call_id", "null"}, {"stdout", output},    {"stderr", error_output}};
  json::object message{{"id", "null"},           {"date", date},
                       {"name", name},           {"message_type", "tool_return_message"},
                       {"tool_return", text},    {"status", status},
                       {"tool_call_id", "null"}, {"stdout", output},
                       {"stderr", error_output}, {"tool_returns", json::array{one}}};
  for (const char* unused : {"otid", "sender_id", "step_id", "is_err", "seq_id", "run_id"}) message[unused] = nullptr;
  return message;
}

}  // namespace bj::letta
