#include "tools/argument_problem.h"

#include <charconv>
#include <utility>

#include "tools/python_text.h"
#include "tools/schema_guard.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr size_t kMaxShown = 200;  // characters of a value or a list of choices

std::string_view kind_of(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null: return "null";
    case json::kind::bool_: return "a boolean";
    case json::kind::int64:
    case json::kind::uint64:
    case json::kind::double_: return "a number";
    case json::kind::string: return "a string";
    case json::kind::array: return "an array";
    case json::kind::object: return "an object";
  }
  return "something else";
}

std::string with_article(std::string_view type) {
  if (type == "null") return "null";
  const bool vowel = type.starts_with('a') || type.starts_with('o') || type.starts_with('i');
  return (vowel ? "an " : "a ") + std::string(type);
}

std::string shown(const json::value& value) {
  std::string text = python_json(value);
  if (python_length(text) <= kMaxShown) return text;
  return std::string(python_prefix(text, kMaxShown)) + "...";
}

// Where a finding points: the value, and the schema that applies to it if it could be followed.
struct Place {
  const json::value* value = nullptr;
  const json::value* schema = nullptr;
  std::string name;  // items[0].city
};

const json::value* member(const json::value* schema, std::string_view key) {
  const json::object* object = schema == nullptr ? nullptr : schema->if_object();
  return object == nullptr ? nullptr : object->if_contains(key);
}

const json::value* followed(const json::value& document, const json::value* schema) {
  for (int i = 0; i < 16; ++i) {
    const json::value* reference = member(schema, "$ref");
    if (reference == nullptr || !reference->is_string()) break;
    schema = resolve_reference(document, reference->get_string());
  }
  return schema;
}

void step(Place& place, const json::value& document, const std::string& key) {
  if (place.value != nullptr && place.value->is_array()) {
    size_t index = 0;
    std::from_chars(key.data(), key.data() + key.size(), index);
    place.value = index < place.value->get_array().size() ? &place.value->get_array()[index] : nullptr;
    place.schema = member(place.schema, "items");
    place.name += "[" + key + "]";
  } else {
    place.value =
        place.value != nullptr && place.value->is_object() ? place.value->get_object().if_contains(key) : nullptr;
    const json::value* property = member(member(place.schema, "properties"), key);
    place.schema = property != nullptr ? property : member(place.schema, "additionalProperties");
    place.name += (place.name.empty() ? "" : ".") + key;
  }
  place.schema = followed(document, place.schema);
}

std::string subject(const Place& place) {
  return place.name.empty() ? "the arguments" : "argument \"" + place.name + "\"";
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) text += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  return text;
}

void add_types(const json::value* type, std::vector<std::string>& words) {
  if (type == nullptr) return;
  if (type->is_string()) words.push_back(with_article(type->get_string()));
  if (type->is_array()) {
    for (const json::value& item : type->get_array()) add_types(&item, words);
  }
}

std::string wrong_type(const Place& place, const json::value* type) {
  std::vector<std::string> words;
  add_types(type, words);
  if (words.empty()) return "";  // of one alternative; there is a finding about all of them
  return subject(place) + " must be " + joined(words) +
         (place.value == nullptr ? "" : ", not " + std::string(kind_of(*place.value)));
}

// anyOf and oneOf of plain types read best as one list of types.
std::string no_alternative(const Place& place, const json::value& document) {
  std::vector<std::string> words;
  for (const char* key : {"anyOf", "oneOf"}) {
    const json::value* list = member(place.schema, key);
    if (list == nullptr || !list->is_array()) continue;
    for (const json::value& item : list->get_array()) add_types(member(followed(document, &item), "type"), words);
  }
  if (words.empty() || place.value == nullptr) return subject(place) + " fits none of the forms that the schema allows";
  return subject(place) + " must be " + joined(words) + " as the schema describes, not " + shown(*place.value);
}

std::string quoted_in(std::string_view finding) {
  const size_t begin = finding.find('\'');
  const size_t end = finding.rfind('\'');
  return begin < end ? std::string(finding.substr(begin + 1, end - begin - 1)) : std::string();
}

std::string missing(const Place& place, const std::string& key) {
  if (place.name.empty()) return "missing argument \"" + key + "\"";
  return subject(place) + " has no \"" + key + "\"";
}

// "Object contains a property that could not be validated using 'properties' ... constraints: 'x'."
std::string unknown(const Place& place, std::string_view finding) {
  const std::string key = quoted_in(finding.substr(finding.rfind(": ")));
  if (place.name.empty()) return "unknown argument \"" + key + "\"";
  return subject(place) + " has an unknown member \"" + key + "\"";
}

// Limits in the schema's own numbers.
struct Limit {
  std::string_view finding;
  const char* keyword;
  const char* before;
  const char* after;
};
constexpr Limit kLimits[] = {
    {"Expected number less than or equal to", "maximum", "must be at most ", ""},
    {"Expected number less than", "exclusiveMaximum", "must be less than ", ""},
    {"Expected number greater than or equal to", "minimum", "must be at least ", ""},
    {"Expected number greater than", "exclusiveMinimum", "must be greater than ", ""},
    {"Array should contain no more than", "maxItems", "must have at most ", " items"},
    {"Array should contain no fewer than", "minItems", "must have at least ", " items"},
    {"String should be no more than", "maxLength", "must have at most ", " characters"},
    {"String should be no fewer than", "minLength", "must have at least ", " characters"},
    {"Object should have no more than", "maxProperties", "must have at most ", " members"},
    {"Object should have no fewer than", "minProperties", "must have at least ", " members"},
    {"Value should be a multiple of", "multipleOf", "must be a multiple of ", ""},
    {"Failed to match against any enum", "enum", "must be one of ", ""},
    {"Failed to match expected value", "const", "must be ", ""},
};

bool repeats(std::string_view finding) {
  for (const std::string_view start :
       {"Failed to validate against schema associated", "Failed to validate item",
        "Failed to validate against additional", "Failed to validate against child schema",
        "Failed to validate against dependent"}) {
    if (finding.starts_with(start)) return true;
  }
  return false;
}

}  // namespace

std::string argument_problem(const json::value& schema, const json::value& arguments,
                             const std::vector<std::string>& path, std::string_view finding) {
  if (repeats(finding)) return "";
  Place place{&arguments, followed(schema, &schema), ""};
  for (const std::string& key : path) step(place, schema, key);
  if (finding.starts_with("Value type not permitted")) return wrong_type(place, member(place.schema, "type"));
  if (finding.starts_with("Missing required")) return missing(place, quoted_in(finding));
  if (finding.starts_with("Object contains a property")) return unknown(place, finding);
  if (finding.find("anyOf") != finding.npos || finding.find("oneOf") != finding.npos)
    return no_alternative(place, schema);
  for (const Limit& limit : kLimits) {
    const json::value* bound = member(place.schema, limit.keyword);
    if (!finding.starts_with(limit.finding) || bound == nullptr) continue;
    std::string text = subject(place) + " " + limit.before + shown(*bound) + limit.after;
    const bool choice = bound->is_array() || std::string_view(limit.keyword) == "const";
    return choice && place.value != nullptr ? text + ", not " + shown(*place.value) : text;
  }
  return subject(place) + " is not as the schema wants it: " + std::string(finding);
}

}  // namespace bj
