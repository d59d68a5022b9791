// Reads the fields of a JSON object as a pydantic model would: conversions, defaults, all errors at once and in its
// words. Every handler reads its body with one:
//
//   FieldErrors errors;
//   ModelReader reader(body, {"body"}, errors);
//   std::string key = reader.string("key");
//   std::optional<std::string> description = reader.optional_string("description");
//   reader.finish(UnknownKeys::kForbid);
//   if (!errors.empty()) ...  // 422 with field_errors_repr(errors)
//
// After an error a getter returns an empty value; look at `errors` before using any. Getters note which keys the model
// has, so each field is read exactly once and in the model's order. The input must outlive the reader.
#pragma once

#include <boost/json/object.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/field_errors.h"
#include "tools/lax_values.h"

namespace bj {

enum class UnknownKeys { kIgnore, kForbid };
enum class NullCounts { kAsAbsent, kAsWrong };

struct IntegerBounds {
  int64_t least = INT64_MIN;
  int64_t most = INT64_MAX;
};

class ModelReader {
 public:
  ModelReader(const boost::json::value& input, boost::json::array loc, FieldErrors& errors);

  // Required.
  std::string string(std::string_view key, size_t min_length = 0);
  boost::json::object object(std::string_view key);
  // Absent: the default. Null is wrong, as in pydantic.
  std::string string_or(std::string_view key, std::string fallback);
  int64_t integer_or(std::string_view key, int64_t fallback, IntegerBounds bounds = {});
  bool boolean_or(std::string_view key, bool fallback);
  boost::json::object object_or_empty(std::string_view key);
  std::string choice_or(std::string_view key, std::string fallback, const std::vector<std::string>& choices);
  // Absent or null: nothing.
  std::optional<std::string> optional_string(std::string_view key);
  std::optional<int64_t> optional_integer(std::string_view key, IntegerBounds bounds = {});
  std::optional<bool> optional_boolean(std::string_view key);
  std::optional<boost::json::object> optional_object(std::string_view key);
  std::optional<std::vector<std::string>> optional_strings(std::string_view key);
  std::optional<std::map<std::string, std::string>> optional_string_map(std::string_view key);
  // What is no text is told as that, not as a wrong choice.
  std::optional<std::string> text_choice(std::string_view key, NullCounts null,
                                         const std::vector<std::string>& choices);
  // The value as it is, for a field with a model of its own; nullptr: absent (and, if asked for, null).
  const boost::json::value* take(std::string_view key, NullCounts null = NullCounts::kAsWrong);
  // The same for a field that must be there; nullptr: that was noted.
  const boost::json::value* required(std::string_view key);

  void finish(UnknownKeys unknown);

  FieldErrors& errors() { return errors_; }  // for the models of fields
  bool given(std::string_view key) const;    // present, null or not
  boost::json::array loc(std::string_view key) const { return deeper(loc_, boost::json::value(key)); }
  void wrong(std::string_view key, const Mismatch& mismatch, const boost::json::value& value, std::string context = {});

  size_t fields_given() const { return fields_given_; }  // known keys that were there
  bool exact() const { return exact_; }                  // nothing had to be converted

 private:
  template <class T>
  std::optional<T> convert(std::string_view key, const boost::json::value* value,
                           LaxResult<T> (*conversion)(const boost::json::value&));
  std::optional<int64_t> bounded(std::string_view key, const boost::json::value* value, IntegerBounds bounds);
  std::optional<std::string> chosen(std::string_view key, const boost::json::value* value,
                                    const std::vector<std::string>& choices);
  const boost::json::object* object_of(std::string_view key, const boost::json::value* value);

  const boost::json::object* object_ = nullptr;
  boost::json::array loc_;
  FieldErrors& errors_;
  std::vector<std::string> known_;
  size_t fields_given_ = 0;
  bool exact_ = true;
};

}  // namespace bj
