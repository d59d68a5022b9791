#include "tools/schema_guard.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace bj {
namespace {

namespace json = boost::json;

constexpr size_t kMaxNodesForUnique = 1000;  // comparing all pairs
constexpr size_t kMaxReferenceChain = 16;
constexpr char kUnknownReference[] = "a \"$ref\" must name a part of the schema, as \"#/$defs/Item\" does";

tl::unexpected<Error> unusable(const std::string& why) {
  return fail(Code::kInvalid, "the tool's JSON schema can't be used: " + why);
}

const json::value* reference_of(const json::value& schema) {
  const json::object* object = schema.if_object();
  const json::value* reference = object == nullptr ? nullptr : object->if_contains("$ref");
  return reference != nullptr && reference->is_string() ? reference : nullptr;
}

// Drops keywords where a schema stands; properties may have the same names.
void strip(json::value& value, bool unique_items) {
  if (json::array* items = value.if_array()) {
    for (json::value& item : *items) strip(item, unique_items);
    return;
  }
  json::object* object = value.if_object();
  if (object == nullptr) return;
  for (const char* text : {"$id", "id", "$schema", "$anchor", "pattern", "format", "contentEncoding"}) {
    const json::value* found = object->if_contains(text);
    if (found != nullptr && found->is_string()) object->erase(text);
  }
  const json::value* unique = object->if_contains("uniqueItems");
  if (unique != nullptr && unique->is_bool() && !unique_items) object->erase("uniqueItems");
  const json::value* divisor = object->if_contains("multipleOf");
  if (divisor != nullptr && divisor->is_number() && divisor->to_number<double>() <= 0) object->erase("multipleOf");
  object->erase("patternProperties");
  for (auto& member : *object) {
    const std::string_view key = member.key();
    const bool names = key == "properties" || key == "$defs" || key == "definitions";
    if (names && member.value().is_object()) {
      for (auto& property : member.value().get_object()) strip(property.value(), unique_items);
    } else if (key != "enum" && key != "const" && key != "default" && key != "examples") {
      strip(member.value(), unique_items);
    }
  }
}

// How often a validator can look at schemas for one value: the steps multiply where several schemas apply to the same
// value and again further in.
class Work {
 public:
  explicit Work(const json::value& document) : document_(document) {}

  // Of `schema` on a value that is `depth` levels deep.
  Result<size_t> of(const json::value& schema, size_t depth) {
    const auto key = std::make_pair(&schema, depth);
    if (const auto known = known_.find(key); known != known_.end()) {
      if (known->second == kRunning) return unusable("a reference leads back to itself");
      return known->second;
    }
    if (++in_progress_ > kMaxSchemaDepth * kMaxSchemaDepth) return unusable("references are nested too deeply");
    known_[key] = kRunning;
    size_t steps = 1;
    for (const auto& [next, inside] : edges(schema)) {
      if (next == nullptr) return unusable(kUnknownReference);
      if (inside && depth == 0) continue;
      BJ_TRY(const size_t more, of(*next, inside ? depth - 1 : depth));
      steps += more;
      if (steps > kMaxValidationSteps) return unusable("it takes too many steps to check");
    }
    --in_progress_;
    known_[key] = steps;
    return steps;
  }

 private:
  static constexpr size_t kRunning = 0;
  struct Edge {
    const json::value* schema;  // nullptr: a reference to nothing
    bool inside;                // applies to parts of the value, not to the value itself
  };

  static void add(std::vector<Edge>& list, const json::value& value, bool inside) {
    if (value.is_object()) list.push_back({&value, inside});
    if (value.is_array()) {
      for (const json::value& item : value.get_array()) list.push_back({&item, inside});
    }
  }

  std::vector<Edge> edges(const json::value& schema) const {
    std::vector<Edge> list;
    const json::object* object = schema.if_object();
    if (object == nullptr) return list;
    if (const json::value* reference = reference_of(schema)) {
      list.push_back({resolve_reference(document_, reference->get_string()), false});
      return list;
    }
    for (const char* key : {"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "propertyNames"}) {
      if (const json::value* found = object->if_contains(key)) add(list, *found, false);
    }
    for (const char* key : {"items", "additionalItems", "additionalProperties", "contains"}) {
      if (const json::value* found = object->if_contains(key)) add(list, *found, true);
    }
    for (const char* key : {"properties", "dependencies"}) {
      const json::value* found = object->if_contains(key);
      if (found == nullptr || !found->is_object()) continue;
      for (const auto& member : found->get_object()) add(list, member.value(), key[0] == 'p');
    }
    return list;
  }

  const json::value& document_;
  std::map<std::pair<const json::value*, size_t>, size_t> known_;
  size_t in_progress_ = 0;
};

// Every reference of the document, used or not: a validator may read them all.
Result<void> check_references(const json::value& document, const json::value& value) {
  const json::value* schema = &value;
  for (size_t hops = 0; const json::value* reference = reference_of(*schema); ++hops) {
    schema = resolve_reference(document, reference->get_string());
    if (schema == nullptr) return unusable(kUnknownReference);
    if (hops > kMaxReferenceChain) return unusable("a reference leads back to itself");
  }
  if (const json::array* items = value.if_array()) {
    for (const json::value& item : *items) BJ_CHECK(check_references(document, item));
  } else if (const json::object* object = value.if_object()) {
    for (const auto& member : *object) BJ_CHECK(check_references(document, member.value()));
  }
  return {};
}

}  // namespace

const json::value* resolve_reference(const json::value& document, std::string_view reference) {
  if (!reference.starts_with('#') || reference.find('%') != reference.npos) return nullptr;
  if (reference == "#") return &document;
  boost::system::error_code error;
  const json::value* found = document.find_pointer(reference.substr(1), error);
  return error || found == nullptr || !(found->is_object() || found->is_bool()) ? nullptr : found;
}

size_t value_depth(const json::value& value) {
  size_t deepest = 0;
  if (const json::array* items = value.if_array()) {
    for (const json::value& item : *items) deepest = std::max(deepest, value_depth(item));
  } else if (const json::object* object = value.if_object()) {
    for (const auto& member : *object) deepest = std::max(deepest, value_depth(member.value()));
  } else {
    return 0;
  }
  return deepest + 1;
}

size_t value_nodes(const json::value& value) {
  size_t nodes = 1;
  if (const json::array* items = value.if_array()) {
    for (const json::value& item : *items) nodes += value_nodes(item);
  } else if (const json::object* object = value.if_object()) {
    for (const auto& member : *object) nodes += value_nodes(member.value());
  }
  return nodes;
}

Result<json::value> safe_schema(const json::value& schema, const json::value& value) {
  if (!schema.is_object()) return unusable("it is not an object");
  if (value_depth(schema) > kMaxSchemaDepth) return unusable("it is nested too deeply");
  if (value_nodes(schema) > kMaxSchemaNodes) return unusable("it is too large");
  const size_t depth = value_depth(value);
  if (depth > kMaxValueDepth) return unusable("the arguments are nested too deeply for it");
  json::value safe = schema;
  const size_t nodes = value_nodes(value);
  strip(safe, nodes <= kMaxNodesForUnique);
  BJ_CHECK(check_references(safe, safe));
  BJ_TRY(const size_t steps, Work(safe).of(safe, depth));
  if (steps > kMaxValidationSteps / nodes) return unusable("it takes too many steps to check");
  return safe;
}

}  // namespace bj
