// Bodies of /v1/agents, /v1/blocks and of environment variables.
#include <boost/json/serialize.hpp>

#include "api/letta/bodies.h"
#include "api/letta/routes.h"

namespace bj::letta {
namespace {

namespace json = boost::json;

constexpr IntegerBounds kBlockLimit{1, 1'000'000};

std::string metadata_text(const std::optional<json::object>& metadata) {
  return metadata ? json::serialize(*metadata) : "{}";
}

std::string tags_text(const std::vector<std::string>& tags) {
  return json::serialize(json::array(tags.begin(), tags.end()));
}

// `secrets`, or under its old name.
std::optional<std::map<std::string, std::string>> variables_of(ModelReader& reader) {
  std::optional<std::map<std::string, std::string>> old = reader.optional_string_map("tool_exec_environment_variables");
  std::optional<std::map<std::string, std::string>> now = reader.optional_string_map("secrets");
  return now ? now : old;
}

std::vector<BlockRow> blocks_of(ModelReader& reader) {
  std::vector<BlockRow> blocks;
  const json::value* const list = reader.take("memory_blocks", NullCounts::kAsAbsent);
  if (list == nullptr) return blocks;
  if (!list->is_array()) {
    reader.wrong("memory_blocks", {"list_type", "Input should be a valid list"}, *list);
    return blocks;
  }
  const json::array where = reader.loc("memory_blocks");
  for (const json::value& one : list->get_array()) {
    if (are_enough(reader.errors())) break;
    ModelReader block(one, deeper(where, blocks.size()), reader.errors());
    blocks.push_back(read_block_create(block));
  }
  return blocks;
}

}  // namespace

VariableBody read_variable_create(ModelReader& reader) {
  VariableBody body;
  body.key = reader.string("key");
  body.value = reader.string("value");
  body.description = reader.optional_string("description");
  return body;
}

VariableBody read_variable_update(ModelReader& reader) {
  VariableBody body;
  body.key = reader.optional_string("key");
  body.value = reader.optional_string("value");
  body.description = reader.optional_string("description");
  return body;
}

BlockRow read_block_create(ModelReader& reader) {
  BlockRow block;
  block.label = reader.string("label", 1);
  block.value = reader.string("value");
  block.limit = reader.integer_or("limit", block.limit, kBlockLimit);
  block.description = reader.optional_string("description");
  block.read_only = reader.boolean_or("read_only", false);
  block.metadata = metadata_text(reader.optional_object("metadata"));
  return block;
}

BlockPatch read_block_update(ModelReader& reader) {
  BlockPatch patch;
  patch.label = reader.optional_string("label");
  patch.value = reader.optional_string("value");
  patch.description = reader.optional_string("description");
  patch.limit = reader.optional_integer("limit", kBlockLimit);
  patch.read_only = reader.optional_boolean("read_only");
  patch.metadata = reader.optional_object("metadata");
  return patch;
}

AgentDraft read_agent_create(ModelReader& reader) {
  AgentDraft draft;
  draft.tool_names = reader.optional_strings("tools").value_or(std::vector<std::string>());
  NewAgent& agent = draft.agent;
  agent.row.name = reader.optional_string("name").value_or("agent");
  agent.row.description = reader.optional_string("description");
  agent.row.system = reader.optional_string("system");
  agent.row.agent_type = reader.optional_string("agent_type").value_or(agent.row.agent_type);
  agent.row.project_id = reader.optional_string("project_id");
  agent.row.tags = tags_text(reader.optional_strings("tags").value_or(std::vector<std::string>()));
  agent.row.metadata = metadata_text(reader.optional_object("metadata"));
  agent.tool_ids = reader.optional_strings("tool_ids").value_or(std::vector<std::string>());
  agent.block_ids = reader.optional_strings("block_ids").value_or(std::vector<std::string>());
  agent.blocks = blocks_of(reader);
  for (auto& [key, value] : variables_of(reader).value_or(std::map<std::string, std::string>())) {
    agent.variables.push_back({key, Secret(value), {}});
  }
  return draft;
}

AgentPatch read_agent_update(ModelReader& reader) {
  AgentPatch patch;
  patch.name = reader.optional_string("name");
  patch.description = reader.optional_string("description");
  patch.system = reader.optional_string("system");
  patch.project_id = reader.optional_string("project_id");
  patch.tags = reader.optional_strings("tags");
  patch.tool_ids = reader.optional_strings("tool_ids");
  patch.block_ids = reader.optional_strings("block_ids");
  patch.metadata = reader.optional_object("metadata");
  patch.variables = variables_of(reader);
  return patch;
}

json::value variable_schema() {
  const json::value text = {{"type", "string"}};
  return body_schema({{"key", text}, {"value", text}, {"description", text}});
}

json::value block_schema() {
  const json::value text = {{"type", "string"}};
  return body_schema({{"label", text},
                      {"value", text},
                      {"limit", {{"type", "integer"}}},
                      {"description", text},
                      {"read_only", {{"type", "boolean"}}},
                      {"metadata", {{"type", "object"}}}});
}

json::value agent_schema() {
  const json::value text = {{"type", "string"}}, object = {{"type", "object"}};
  const json::value texts = {{"type", "array"}, {"items", {{"type", "string"}}}};
  return body_schema({{"name", text},
                      {"description", text},
                      {"system", text},
                      {"tags", texts},
                      {"tool_ids", texts},
                      {"block_ids", texts},
                      {"memory_blocks", {{"type", "array"}, {"items", block_schema()}}},
                      {"secrets", object},
                      {"metadata", object},
                      {"project_id", text}});
}

}  // namespace bj::letta
