#include "tools/lenient_arguments.h"

#include <optional>
#include <string_view>
#include <vector>

#include "tools/argument_literal.h"
#include "tools/code_points.h"
#include "tools/lax_values.h"
#include "tools/python_loads.h"
#include "tools/python_text.h"
#include "tools/schema_guard.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr int kMaxReferences = 16;

const json::value& resolved(const json::value& document, const json::value& schema) {
  const json::value* current = &schema;
  for (int i = 0; i < kMaxReferences; ++i) {
    const json::object* object = current->if_object();
    const json::value* reference = object == nullptr ? nullptr : object->if_contains("$ref");
    if (reference == nullptr || !reference->is_string()) break;
    const json::value* target = resolve_reference(document, reference->get_string());
    if (target == nullptr) break;
    current = target;
  }
  return *current;
}

std::vector<std::string_view> types_of(const json::value& schema) {
  std::vector<std::string_view> types;
  const json::object* object = schema.if_object();
  const json::value* type = object == nullptr ? nullptr : object->if_contains("type");
  if (type == nullptr) return types;
  if (type->is_string()) types.emplace_back(type->get_string());
  if (type->is_array()) {
    for (const json::value& item : type->get_array()) {
      if (item.is_string()) types.emplace_back(item.get_string());
    }
  }
  return types;
}

bool has_type(const json::value& value, std::string_view type) {
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_bool();
  if (type == "null") return value.is_null();
  if (type == "array") return value.is_array();
  if (type == "object") return value.is_object();
  if (type == "integer") return value.is_int64() || value.is_uint64();
  return type == "number" && value.is_number();
}

std::optional<json::value> as_integer(const json::value& value) {
  const auto literal = python_argument_literal("integer", value);
  if (!literal) return std::nullopt;
  auto number = python_loads(*literal);  // beyond 64 bits: a float, which is still a whole number
  return number ? std::optional(*number) : std::nullopt;
}

std::optional<json::value> as_boolean(const json::value& value) {
  if (value.is_number()) return json::value(value.to_number<double>() != 0);
  const auto literal = python_argument_literal("boolean", value);
  return literal ? std::optional<json::value>(*literal == "True") : std::nullopt;
}

// The value as coercion to one type makes it; nothing: it would fail.
std::optional<json::value> coerced(const json::value& value, std::string_view type) {
  if (type == "string") return json::value(python_str(value));
  if (type == "integer") return as_integer(value);
  if (type == "boolean") return as_boolean(value);
  if (type == "number") {
    const auto number = lax_number(value);
    return number ? std::optional<json::value>(number->value) : std::nullopt;
  }
  if ((type == "array" || type == "object") && value.is_string()) {
    auto parsed = python_loads(value.get_string());
    if (parsed && has_type(*parsed, type)) return *parsed;
  }
  return std::nullopt;
}

// Text that only Python can read: {'a': 1}, (1, 2).
bool python_literal(const json::value& value, const std::vector<std::string_view>& types) {
  if (!value.is_string()) return false;
  const std::string_view text = python_strip(value.get_string());
  const bool bracket = text.starts_with('[') || text.starts_with('{') || text.starts_with('(');
  for (const std::string_view type : types) {
    if (bracket && (type == "array" || type == "object")) return !python_loads(text);
  }
  return false;
}

json::value lenient(const json::value& document, const json::value& given, const json::value& value, size_t depth) {
  const json::value& schema = resolved(document, given);
  const json::object* object = schema.if_object();
  if (object == nullptr || depth > kMaxValueDepth) return value;
  const auto types = types_of(schema);
  json::value result = value;
  bool fits = types.empty();
  for (const std::string_view type : types) fits = fits || has_type(value, type);
  for (size_t i = 0; !fits && i < types.size(); ++i) {
    if (auto better = coerced(value, types[i])) {
      result = std::move(*better);
      fits = true;
    }
  }
  const json::value* properties = object->if_contains("properties");
  const json::value* items = object->if_contains("items");
  if (result.is_object() && properties != nullptr && properties->is_object()) {
    for (auto& [name, member] : result.get_object()) {
      const json::value* property = properties->get_object().if_contains(name);
      if (property != nullptr) member = lenient(document, *property, member, depth + 1);
    }
  } else if (result.is_array() && items != nullptr && items->is_object()) {
    for (json::value& item : result.get_array()) item = lenient(document, *items, item, depth + 1);
  }
  return result;
}

bool required(const json::object& schema, std::string_view name) {
  const json::value* list = schema.if_contains("required");
  if (list == nullptr || !list->is_array()) return false;
  for (const json::value& item : list->get_array()) {
    if (item.is_string() && std::string_view(item.get_string()) == name) return true;
  }
  return false;
}

// Null for a parameter that need not be given means "not given"; for others it reaches the tool as None, except where
// the conversion to a number or a truth value fails.
bool null_is_fine(const json::object& schema, std::string_view name, const std::vector<std::string_view>& types) {
  if (!required(schema, name)) return true;
  for (const std::string_view type : types) {
    if (type != "integer" && type != "boolean") return true;
  }
  return types.empty();
}

}  // namespace

LenientArguments lenient_arguments(const json::value& schema, const json::object& arguments) {
  LenientArguments result;
  const json::object* object = schema.if_object();
  const json::value* properties = object == nullptr ? nullptr : object->if_contains("properties");
  for (const auto& [name, value] : arguments) {
    const json::value* property =
        properties != nullptr && properties->is_object() ? properties->get_object().if_contains(name) : nullptr;
    if (property == nullptr) {
      result.arguments[name] = value;
      continue;
    }
    const auto types = types_of(resolved(schema, *property));
    if ((value.is_null() && null_is_fine(*object, name, types)) || python_literal(value, types)) {
      result.waived.insert(std::string(name));
    } else {
      result.arguments[name] = lenient(schema, *property, value, 0);
    }
  }
  return result;
}

}  // namespace bj
