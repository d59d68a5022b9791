#include "api/letta/path_id.h"

#include "base/id.h"
#include "tools/field_errors.h"
#include "tools/python_text.h"

namespace bj::letta {
namespace {

FieldError mismatch(std::string_view prefix, const std::string& shown_pattern) {
  const std::string pattern =
      "^" + std::string(prefix) + "-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$";
  const std::string& shown = shown_pattern.empty() ? pattern : shown_pattern;
  return {"string_pattern_mismatch",
          {},
          "String should match pattern '" + shown + "'",
          nullptr,
          "{'pattern': '" + pattern + "'}"};
}

FieldError wrong_length(bool is_short, size_t wanted) {
  const std::string number = std::to_string(wanted);
  return {is_short ? "string_too_short" : "string_too_long",
          {},
          std::string("String should have at ") + (is_short ? "least " : "most ") + number + " characters",
          nullptr,
          std::string(is_short ? "{'min_length': " : "{'max_length': ") + number + "}"};
}

}  // namespace

Result<std::string> path_id(const HttpRequest& request, std::string_view parameter, std::string_view prefix) {
  const std::string& id = request.parameter(parameter);
  if (is_id(prefix, id)) return id;
  // Letta words it kindly where the parameter is named after the prefix; elsewhere its clients see pydantic's own
  // words.
  const bool kindly = parameter == std::string(prefix) + "_id";
  const size_t length = python_length(id), wanted = prefix.size() + 37;
  FieldError error = kindly             ? mismatch(prefix, std::string(prefix) + "-{uuid4}")
                     : length == wanted ? mismatch(prefix, "")
                                        : wrong_length(length < wanted, wanted);
  error.loc = {"path", parameter};
  error.input = id;
  return fail(Code::kUnprocessable, field_errors_repr({error}));
}

}  // namespace bj::letta
