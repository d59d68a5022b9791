#include "tools/model_reader.h"

#include <algorithm>

#include "tools/python_text.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr Mismatch kModelType{"model_attributes_type",
                              "Input should be a valid dictionary or object to extract fields from"};
constexpr Mismatch kDictType{"dict_type", "Input should be a valid dictionary"};
constexpr Mismatch kListType{"list_type", "Input should be a valid list"};

// "'a', 'b' or 'c'"
std::string alternatives(const std::vector<std::string>& choices) {
  std::string text;
  for (size_t i = 0; i < choices.size(); ++i) {
    if (i != 0) text += i + 1 == choices.size() ? " or " : ", ";
    text += python_repr(std::string_view(choices[i]));
  }
  return text;
}

}  // namespace

ModelReader::ModelReader(const json::value& input, json::array loc, FieldErrors& errors)
    : object_(input.if_object()), loc_(std::move(loc)), errors_(errors) {
  if (object_ == nullptr) {
    errors_.push_back({std::string(kModelType.type), loc_, std::string(kModelType.msg), input, ""});
  }
}

bool ModelReader::given(std::string_view key) const { return object_ != nullptr && object_->contains(key); }

void ModelReader::wrong(std::string_view key, const Mismatch& mismatch, const json::value& value, std::string context) {
  errors_.push_back({std::string(mismatch.type), loc(key), std::string(mismatch.msg), value, std::move(context)});
}

const json::value* ModelReader::take(std::string_view key, NullCounts null) {
  known_.emplace_back(key);
  const json::value* value = object_ == nullptr ? nullptr : object_->if_contains(key);
  if (value == nullptr) return nullptr;
  ++fields_given_;
  return null == NullCounts::kAsAbsent && value->is_null() ? nullptr : value;
}

const json::value* ModelReader::required(std::string_view key) {
  const json::value* value = take(key);
  if (value == nullptr && object_ != nullptr) {
    errors_.push_back({"missing", loc(key), "Field required", *object_, ""});
  }
  return value;
}

template <class T>
std::optional<T> ModelReader::convert(std::string_view key, const json::value* value,
                                      LaxResult<T> (*conversion)(const json::value&)) {
  if (value == nullptr) return std::nullopt;
  LaxResult<T> converted = conversion(*value);
  if (!converted) {
    wrong(key, converted.error(), *value);
    return std::nullopt;
  }
  exact_ = exact_ && converted->exact;
  return std::move(converted->value);
}

std::optional<int64_t> ModelReader::bounded(std::string_view key, const json::value* value, IntegerBounds bounds) {
  const bool is_bounded = bounds.most != IntegerBounds().most;
  const bool is_beyond = value != nullptr && value->is_uint64();  // more than an int64_t holds
  const auto number = is_bounded && is_beyond ? std::nullopt : convert(key, value, lax_integer);
  if (number && *number < bounds.least) {
    const std::string least = std::to_string(bounds.least);
    wrong(key, {"greater_than_equal", "Input should be greater than or equal to " + least}, *value,
          "{'ge': " + least + "}");
  } else if (is_bounded && (is_beyond || (number && *number > bounds.most))) {
    const std::string most = std::to_string(bounds.most);
    wrong(key, {"less_than_equal", "Input should be less than or equal to " + most}, *value, "{'le': " + most + "}");
  }
  return number;
}

const json::object* ModelReader::object_of(std::string_view key, const json::value* value) {
  if (value == nullptr) return nullptr;
  if (!value->is_object()) wrong(key, kDictType, *value);
  return value->if_object();
}

std::string ModelReader::string(std::string_view key, size_t min_length) {
  const json::value* value = required(key);
  const auto text = convert(key, value, lax_string);
  if (!text) return {};
  if (python_length(*text) < min_length) {
    const std::string least = std::to_string(min_length);
    wrong(
        key,
        {"string_too_short", "String should have at least " + least + (min_length == 1 ? " character" : " characters")},
        *value, "{'min_length': " + least + "}");
  }
  return *text;
}

json::object ModelReader::object(std::string_view key) {
  const json::object* found = object_of(key, required(key));
  return found == nullptr ? json::object() : *found;
}

std::string ModelReader::string_or(std::string_view key, std::string fallback) {
  return convert(key, take(key), lax_string).value_or(std::move(fallback));
}

int64_t ModelReader::integer_or(std::string_view key, int64_t fallback, IntegerBounds bounds) {
  return bounded(key, take(key), bounds).value_or(fallback);
}

bool ModelReader::boolean_or(std::string_view key, bool fallback) {
  return convert(key, take(key), lax_boolean).value_or(fallback);
}

json::object ModelReader::object_or_empty(std::string_view key) {
  const json::object* found = object_of(key, take(key));
  return found == nullptr ? json::object() : *found;
}

std::optional<std::string> ModelReader::chosen(std::string_view key, const json::value* value,
                                               const std::vector<std::string>& choices) {
  if (value == nullptr) return std::nullopt;
  std::string text = value->is_string() ? std::string(value->get_string()) : std::string();
  if (value->is_string() && std::find(choices.begin(), choices.end(), text) != choices.end()) return text;
  const std::string expected = alternatives(choices);
  wrong(key, {"literal_error", "Input should be " + expected}, *value,
        "{'expected': " + python_repr(std::string_view(expected)) + "}");
  return std::nullopt;
}

std::string ModelReader::choice_or(std::string_view key, std::string fallback,
                                   const std::vector<std::string>& choices) {
  return chosen(key, take(key), choices).value_or(std::move(fallback));
}

std::optional<std::string> ModelReader::text_choice(std::string_view key, NullCounts null,
                                                    const std::vector<std::string>& choices) {
  const json::value* const value = take(key, null);
  return convert(key, value, lax_string) ? chosen(key, value, choices) : std::nullopt;
}

std::optional<std::string> ModelReader::optional_string(std::string_view key) {
  return convert(key, take(key, NullCounts::kAsAbsent), lax_string);
}

std::optional<int64_t> ModelReader::optional_integer(std::string_view key, IntegerBounds bounds) {
  return bounded(key, take(key, NullCounts::kAsAbsent), bounds);
}

std::optional<bool> ModelReader::optional_boolean(std::string_view key) {
  return convert(key, take(key, NullCounts::kAsAbsent), lax_boolean);
}

std::optional<json::object> ModelReader::optional_object(std::string_view key) {
  const json::object* found = object_of(key, take(key, NullCounts::kAsAbsent));
  return found == nullptr ? std::nullopt : std::optional(*found);
}

std::optional<std::vector<std::string>> ModelReader::optional_strings(std::string_view key) {
  const json::value* value = take(key, NullCounts::kAsAbsent);
  if (value == nullptr) return std::nullopt;
  const json::array* items = value->if_array();
  if (items == nullptr) {
    wrong(key, kListType, *value);
    return std::nullopt;
  }
  std::vector<std::string> texts;
  for (size_t i = 0; i < items->size() && !are_enough(errors_); ++i) {
    auto text = lax_string((*items)[i]);
    if (text) {
      texts.push_back(std::move(text->value));
    } else {
      errors_.push_back({std::string(text.error().type), deeper(loc(key), static_cast<int64_t>(i)),
                         std::string(text.error().msg), (*items)[i], ""});
    }
  }
  return texts;
}

std::optional<std::map<std::string, std::string>> ModelReader::optional_string_map(std::string_view key) {
  const json::object* found = object_of(key, take(key, NullCounts::kAsAbsent));
  if (found == nullptr) return std::nullopt;
  std::map<std::string, std::string> texts;
  for (const auto& [name, value] : *found) {
    if (are_enough(errors_)) break;
    auto text = lax_string(value);
    if (text) {
      texts.emplace(name, std::move(text->value));
    } else {
      errors_.push_back({std::string(text.error().type), deeper(loc(key), json::value(name)),
                         std::string(text.error().msg), value, ""});
    }
  }
  return texts;
}

void ModelReader::finish(UnknownKeys unknown) {
  if (unknown == UnknownKeys::kIgnore || object_ == nullptr) return;
  for (const auto& [key, value] : *object_) {
    if (are_enough(errors_)) break;
    if (std::find(known_.begin(), known_.end(), std::string_view(key)) != known_.end()) continue;
    wrong(key, {"extra_forbidden", "Extra inputs are not permitted"}, value);
  }
}

}  // namespace bj
