#include "tools/agent_memory.h"

#include "tools/python_text.h"
#include "tools/stored_json.h"

namespace bj {
namespace {

namespace json = boost::json;

json::value text_or_null(const MaybeText& text) { return text ? json::value(*text) : json::value(nullptr); }

json::object block_json(const BlockRow& block) {
  return {{"id", block.id},
          {"label", block.label},
          {"value", block.value},
          {"limit", block.limit},
          {"description", text_or_null(block.description)},
          {"read_only", block.read_only}};
}

// The blocks of a returned state, whatever it is.
const json::array* returned_blocks(const json::value& state) {
  const json::object* const object = state.if_object();
  const json::value* const memory = object == nullptr ? nullptr : object->if_contains("memory");
  const json::object* const inner = memory == nullptr ? nullptr : memory->if_object();
  const json::value* const blocks = inner == nullptr ? nullptr : inner->if_contains("blocks");
  return blocks == nullptr ? nullptr : blocks->if_array();
}

const std::string* text_at(const json::object& object, const char* key, std::string& keep) {
  const json::value* const value = object.if_contains(key);
  if (value == nullptr || !value->is_string()) return nullptr;
  keep = std::string(value->get_string());
  return &keep;
}

}  // namespace

Result<AgentForTool> load_agent(Store& store, const Actor& actor, const std::string& id) {
  AgentForTool agent;
  BJ_TRY(agent.row, store.agents().get(actor.organization, id));
  BJ_TRY(agent.blocks, store.agents().blocks(actor.organization, id));
  BJ_TRY(agent.variables, store.agents().variables(actor.organization, id));
  return agent;
}

json::object agent_state_json(const AgentForTool& agent) {
  json::array blocks;
  for (const BlockRow& block : agent.blocks) blocks.push_back(block_json(block));
  return {{"id", agent.row.id},
          {"name", agent.row.name},
          {"description", text_or_null(agent.row.description)},
          {"system", text_or_null(agent.row.system)},
          {"agent_type", agent.row.agent_type},
          {"project_id", text_or_null(agent.row.project_id)},
          {"tags", stored_json(agent.row.tags)},
          {"metadata", stored_json(agent.row.metadata)},
          {"memory", {{"blocks", std::move(blocks)}}},
          {"tools", json::array()},
          {"tool_rules", json::array()}};
}

std::map<std::string, std::string> changed_blocks(const AgentForTool& agent, const json::value& returned) {
  std::map<std::string, std::string> changed;
  const json::array* const blocks = returned_blocks(returned);
  if (blocks == nullptr) return changed;
  for (const json::value& one : *blocks) {
    const json::object* const object = one.if_object();
    std::string id, label, value;
    if (object == nullptr || text_at(*object, "id", id) == nullptr || text_at(*object, "label", label) == nullptr ||
        text_at(*object, "value", value) == nullptr) {
      continue;
    }
    for (const BlockRow& sent : agent.blocks) {
      const bool same_block = sent.id == id && sent.label == label;
      if (!same_block || sent.read_only || sent.value == value) continue;
      if (python_length(value) <= static_cast<size_t>(sent.limit)) changed[id] = value;
    }
  }
  return changed;
}

Result<void> write_back(Store& store, const Actor& actor, const AgentForTool& agent,
                        const std::map<std::string, std::string>& changed) {
  for (const auto& [id, value] : changed) {
    const auto set = [&value](BlockRow& block) -> Result<void> {
      block.value = value;
      return {};
    };
    BJ_CHECK(store.agents().change_block(actor, agent.row.id, id, set));
  }
  return {};
}

}  // namespace bj
