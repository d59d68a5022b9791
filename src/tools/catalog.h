// The tools of an organization: made, changed, found. What a tool must be before it is stored is decided here; its
// schema is derived from its source unless it came with one.
//
// Stays on the server's thread; the store is asked on its own threads.
#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/actor.h"
#include "base/async.h"
#include "store/store.h"
#include "tools/requirement.h"
#include "tools/schema_deriver.h"

namespace bj {

struct ToolDraft {
  std::string source_code;
  std::string source_type = "python";
  std::optional<std::string> description;
  std::vector<std::string> tags;
  std::optional<boost::json::object> json_schema, args_json_schema;
  int64_t return_char_limit = 50'000;
  std::optional<Requirements> pip_requirements, npm_requirements;
  std::optional<bool> default_requires_approval;
  bool enable_parallel_execution = false;
  std::optional<std::string> project_id;
  bool on_modal = false;
};

// What is set, changes.
struct ToolPatch {
  std::optional<std::string> source_code, source_type, description;
  std::optional<std::vector<std::string>> tags;
  std::optional<boost::json::object> json_schema, args_json_schema, metadata;
  std::optional<int64_t> return_char_limit;
  std::optional<Requirements> pip_requirements, npm_requirements;
  std::optional<bool> default_requires_approval, enable_parallel_execution;
  bool on_modal = false;
};

class ToolCatalog {
 public:
  ToolCatalog(Store& store, asio::thread_pool& threads, SchemaDeriver& deriver)
      : store_(store), threads_(threads), deriver_(deriver) {}

  // Makes the tool, or overwrites the one of its name.
  Task<Result<ToolRow>> put(Actor actor, ToolDraft draft);
  Task<Result<ToolRow>> patch(Actor actor, std::string id, ToolPatch patch);
  // The row that a draft would become, not stored. An empty name is taken from the schema.
  Task<Result<ToolRow>> make(ToolDraft draft, std::string name);
  Task<Result<boost::json::object>> derive(SchemaQuestion question) { return deriver_.derive(std::move(question)); }

 private:
  Store& store_;
  asio::thread_pool& threads_;
  SchemaDeriver& deriver_;
};

}  // namespace bj
