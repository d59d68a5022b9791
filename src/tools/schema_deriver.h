// A tool's JSON schema from its source. The source is read, never executed, and even the reading happens in a sealed
// call: the parser is CPython's own, and what it is given is hostile.
#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "base/async.h"
#include "engine/engine.h"

namespace bj {

// What a failure is told as: of a tool that is stored or run, Letta says that its schema could not be derived; asked
// for the schema alone, only why.
enum class SchemaFor { kTool, kAnswer };

struct SchemaQuestion {
  std::string source;
  std::string source_type = "python";
  std::string name;                     // empty: the source's own
  boost::json::value args_json_schema;  // null: from the signature and its documentation
  SchemaFor purpose = SchemaFor::kTool;
};

class SchemaDeriver {
 public:
  SchemaDeriver(Engine& engine, std::string template_name, std::string interpreter)
      : engine_(engine), template_name_(std::move(template_name)), interpreter_(std::move(interpreter)) {}

  // kInvalid: the source has no schema, in Letta's words.
  Task<Result<boost::json::object>> derive(SchemaQuestion question);

 private:
  Engine& engine_;
  std::string template_name_, interpreter_;
};

}  // namespace bj
