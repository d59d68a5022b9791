// Request bodies of Letta's API, read into what the service works with, and the same as schemas for the documentation.
#pragma once

#include <boost/json/value.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "store/agent_table.h"
#include "tools/model_reader.h"
#include "tools/schema_deriver.h"

namespace bj::letta {

// Tags as the store's filters take them: each as it stands in JSON.
std::vector<std::string> tags_in_json(const std::vector<std::string>& tags);

SchemaQuestion read_schema_question(ModelReader& reader);

struct ToolSearch {
  std::optional<std::string> query;
  std::vector<std::string> tool_types;
  std::vector<std::string> tags;
  int64_t limit = 50;
};
ToolSearch read_tool_search(ModelReader& reader);

boost::json::object read_run_args(ModelReader& reader);  // {"args": {...}}

struct VariableBody {
  std::optional<std::string> key, value, description;
};
VariableBody read_variable_create(ModelReader& reader);
VariableBody read_variable_update(ModelReader& reader);

BlockRow read_block_create(ModelReader& reader);
struct BlockPatch {
  std::optional<std::string> label, value, description;
  std::optional<int64_t> limit;
  std::optional<bool> read_only;
  std::optional<boost::json::object> metadata;
};
BlockPatch read_block_update(ModelReader& reader);

struct AgentDraft {
  NewAgent agent;
  std::vector<std::string> tool_names;  // beside the ids
};
AgentDraft read_agent_create(ModelReader& reader);
struct AgentPatch {
  std::optional<std::string> name, description, system, project_id;
  std::optional<std::vector<std::string>> tags, tool_ids, block_ids;
  std::optional<boost::json::object> metadata;
  std::optional<std::map<std::string, std::string>> variables;
};
AgentPatch read_agent_update(ModelReader& reader);

boost::json::value tool_create_schema();
boost::json::value tool_update_schema();
boost::json::value tool_search_schema();
boost::json::value schema_question_schema();
boost::json::value run_from_source_schema();
boost::json::value run_args_schema();
boost::json::value variable_schema();
boost::json::value block_schema();
boost::json::value agent_schema();

}  // namespace bj::letta
