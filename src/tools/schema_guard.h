// Makes a JSON schema from a stranger safe to run a validator on: bounded in size and in the work it can cause, with
// references inside the document only and no reference that leads back to itself without going into the value.
#pragma once

#include <boost/json/object.hpp>
#include <string_view>

#include "base/error.h"

namespace bj {

inline constexpr size_t kMaxSchemaNodes = 5000;
inline constexpr size_t kMaxSchemaDepth = 48;
inline constexpr size_t kMaxValueDepth = 100;
inline constexpr size_t kMaxValidationSteps = 2000000;

// The schema without what is not checked: regular expressions and formats (they can take longer than the call),
// and ids (references would no longer be inside the document). A failure says what is wrong with the schema.
Result<boost::json::value> safe_schema(const boost::json::value& schema, const boost::json::value& value);

// The schema that `#/...` means, or nullptr.
const boost::json::value* resolve_reference(const boost::json::value& document, std::string_view reference);

size_t value_depth(const boost::json::value& value);
size_t value_nodes(const boost::json::value& value);

}  // namespace bj
