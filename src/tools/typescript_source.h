// A TypeScript tool's source taken apart, as Letta's generator does it: by text, not by a parser.
#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/result_frame.h"

namespace bj {

// kEverywhere drops the word `export` wherever it stands, in strings too (Letta); kStatements where a line begins with
// it, and `default` behind it.
enum class ExportRemoval { kEverywhere, kStatements };

struct TypescriptParts {
  std::vector<std::string> imports;  // lines that are one whole import; those over several lines stay in the body
  std::string body;
};
TypescriptParts take_apart(std::string_view source, ExportRemoval removal);

std::optional<std::string> exported_function(std::string_view source);  // of `export [async] function name`
bool is_async_export(std::string_view source, std::string_view name);

// The names of the arguments in the order of the call: required ones, other properties of the schema, what is left.
std::vector<std::string> call_order(const boost::json::object& arguments, const boost::json::object* json_schema);
// The same for a call that leaves no gaps: properties that are not given, but stand before a given one, are in it too.
std::vector<std::string> call_order_with_gaps(const boost::json::object& arguments,
                                              const boost::json::object* json_schema);

// The lines of Letta's script: "const x = 1;" per argument, and "const _result = await f(x);".
PythonResult<std::vector<std::string>> argument_lines(const boost::json::object& arguments,
                                                      const boost::json::object* json_schema);
std::string call_line(std::string_view name, std::string_view source, const std::vector<std::string>& order);

}  // namespace bj
