// The only file that includes valijson, which is slow to compile.
#define VALIJSON_USE_EXCEPTIONS 1  // or it ends the process at a schema that it can't read
#include "tools/argument_check.h"

#include <algorithm>
#include <exception>
#include <valijson/adapters/boost_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "tools/argument_problem.h"
#include "tools/lenient_arguments.h"
#include "tools/schema_guard.h"
#include "tools/stored_json.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr size_t kMaxProblems = 20;

using Adapter = valijson::adapters::BoostJsonAdapter;
using Error = valijson::ValidationResults::Error;

// "<root>", "[city]", "[0]" become city and 0.
std::vector<std::string> path_of(const Error& error) {
  std::vector<std::string> path;
  for (const std::string& step : error.context) {
    if (step.size() >= 2 && step.front() == '[' && step.back() == ']') path.push_back(step.substr(1, step.size() - 2));
  }
  return path;
}

void add(ArgumentVerdict& verdict, std::string problem) {
  if (problem.empty() || verdict.problems.size() >= kMaxProblems) return;
  if (std::find(verdict.problems.begin(), verdict.problems.end(), problem) == verdict.problems.end()) {
    verdict.problems.push_back(std::move(problem));
  }
}

void validate(const json::value& schema, const LenientArguments& given, ArgumentVerdict& verdict) {
  valijson::Schema parsed;
  valijson::SchemaParser(valijson::SchemaParser::kDraft7).populateSchema(Adapter(schema), parsed);
  const json::value arguments = given.arguments;
  valijson::ValidationResults results;
  valijson::Validator validator(valijson::Validator::kStrongTypes);
  if (validator.validate(parsed, Adapter(arguments), &results)) return;
  bool anything_waived = false;
  Error error;
  while (results.popError(error)) {
    const bool waived = std::any_of(given.waived.begin(), given.waived.end(), [&error](const std::string& name) {
      return error.description == "Missing required property '" + name + "'.";
    });
    anything_waived = anything_waived || waived;
    if (!waived) add(verdict, argument_problem(schema, arguments, path_of(error), error.description));
  }
  if (verdict.problems.empty() && !anything_waived) add(verdict, "the arguments are not as the schema wants them");
}

}  // namespace

std::string ArgumentVerdict::text() const {
  std::string joined;
  for (const std::string& problem : problems) joined += (joined.empty() ? "" : "; ") + problem;
  return joined;
}

ArgumentVerdict check_arguments(const json::object& parameters, const json::object& arguments, ArgumentMode mode) {
  ArgumentVerdict verdict;
  const auto schema = safe_schema(parameters, arguments);
  if (!schema) {
    verdict.unchecked = schema.error().what;
    return verdict;
  }
  LenientArguments given{arguments, {}};
  if (mode == ArgumentMode::kCoercing) given = lenient_arguments(*schema, arguments);
  // valijson throws what it can't read: a `required` that is no list, a `type` that is no type.
  try {
    validate(*schema, given, verdict);
  } catch (const std::exception& error) {
    verdict.problems.clear();
    verdict.unchecked = std::string("the tool's JSON schema can't be used: ") + error.what();
  }
  return verdict;
}

Result<void> check_tool_arguments(const ToolRow& tool, const boost::json::object& arguments) {
  const boost::json::object schema = stored_object(tool.json_schema);
  const boost::json::value* const parameters = schema.if_contains("parameters");
  if (parameters == nullptr || !parameters->is_object()) return {};
  const ArgumentVerdict verdict = check_arguments(parameters->get_object(), arguments, ArgumentMode::kCoercing);
  if (!verdict.ok()) return fail(Code::kUnprocessable, verdict.text());
  return {};
}

}  // namespace bj
