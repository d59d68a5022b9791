// The tools of an organization: made, changed, found. What a tool must be before it is stored is decided here; its
// schema is derived from its source unless it came with one.
//
// Stays on the server's thread; the store is asked on its own threads.
#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>

#include "audit/audit_log.h"
#include "base/actor.h"
#include "base/async.h"
#include "store/store.h"
#include "tools/schema_deriver.h"
#include "tools/tool_rules.h"

namespace bj {

// What comes with a request beside its body.
struct ToolCircumstances {
  std::optional<std::string> project_id;
  bool on_modal = false;
};

class ToolCatalog {
 public:
  ToolCatalog(Store& store, asio::thread_pool& threads, SchemaDeriver& deriver, AuditLog& audit)
      : store_(store), threads_(threads), deriver_(deriver), audit_(audit) {}

  // Makes the tool, or overwrites the one of its name. Changes have their receipt when they return.
  Task<Result<ToolRow>> put(Actor actor, ToolCreate draft, ToolCircumstances circumstances);
  Task<Result<ToolRow>> patch(Actor actor, std::string id, ToolUpdate patch, ToolCircumstances circumstances);
  // The row that a source would become, not stored. A schema is derived only if nothing else tells the name.
  Task<Result<ToolRow>> make(ToolRunFromSource run);
  Task<Result<boost::json::object>> derive(SchemaQuestion question) { return deriver_.derive(std::move(question)); }

 private:
  Task<Result<ToolRow>> with_receipt(Actor actor, const char* action, ToolRow tool);
  // The given one, or what the source tells.
  Task<Result<boost::json::object>> schema_of(std::optional<boost::json::object> given, SchemaQuestion question);

  Store& store_;
  asio::thread_pool& threads_;
  SchemaDeriver& deriver_;
  AuditLog& audit_;
};

}  // namespace bj
