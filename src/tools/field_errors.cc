#include "tools/field_errors.h"

#include <algorithm>
#include <charconv>

#include "tools/python_loads.h"
#include "tools/python_text.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr size_t kMaxInputText = 2000;  // an answer must not be larger than the request that caused it
constexpr size_t kMaxErrors = 50;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
// Below these keys of requests stand values that no answer may repeat.
constexpr std::string_view kSecretKeys[] = {"value", "secrets", "env_vars", "tool_exec_environment_variables",
                                            "password"};

std::string tuple_repr(const json::array& loc) {
  std::string text = python_repr(json::value(loc));
  text.front() = '(';
  text.back() = loc.size() == 1 ? ',' : ')';
  if (loc.size() == 1) text += ')';
  return text;
}

bool names_secrets(std::string_view key) {
  return std::find(std::begin(kSecretKeys), std::end(kSecretKeys), key) != std::end(kSecretKeys);
}

// The same with every text in it that may be a secret as "********", as far as it is shown: `room` is for how many
// values more.
json::value masked(const json::value& input, bool is_secret, size_t& room) {
  room -= std::min<size_t>(room, 1);
  if (is_secret && input.is_string()) return "********";
  if (const json::array* const items = input.if_array()) {
    json::array copy;
    for (size_t i = 0; i < items->size() && room > 0; ++i) copy.push_back(masked((*items)[i], is_secret, room));
    return copy;
  }
  if (const json::object* const fields = input.if_object()) {
    json::object copy;
    for (const auto& [key, value] : *fields) {
      if (room == 0) break;
      copy[key] = masked(value, is_secret || names_secrets(key), room);
    }
    return copy;
  }
  return input;
}

bool is_below_a_secret(const FieldError& error) {
  return std::any_of(error.loc.begin(), error.loc.end(),
                     [](const json::value& step) { return step.is_string() && names_secrets(step.get_string()); });
}

// A secret that is missing may stand under another name, and a body of another kind may hold anything.
bool may_be_misplaced(const FieldError& error) {
  return error.loc.size() == 1 || (error.type == "missing" && is_below_a_secret(error));
}

std::string input_repr(const FieldError& error, bool is_secret) {
  size_t room = kMaxInputText;  // each has a character at least
  std::string text = python_repr(masked(error.input, is_secret || is_below_a_secret(error), room));
  if (text.size() <= kMaxInputText) return text;
  return std::string(python_prefix(text, kMaxInputText)) + "...";
}

// "Expecting value: line 1 column 1 (char 0)" is both what FastAPI tells apart: words and place.
FieldError broken_json(const std::string& what) {
  int64_t position = 0;
  const size_t at = what.rfind("(char ");
  if (at != what.npos) std::from_chars(what.data() + at + 6, what.data() + what.size(), position);
  const std::string words = what.substr(0, what.find(": line "));
  return {"json_invalid",
          {"body", position},
          "JSON decode error",
          json::object(),
          "{'error': " + python_repr(std::string_view(words)) + "}"};
}

}  // namespace

bool are_enough(const FieldErrors& errors) { return errors.size() >= kMaxErrors; }

std::string field_errors_repr(const FieldErrors& errors) {
  const bool is_secret = std::any_of(errors.begin(), errors.end(), may_be_misplaced);
  std::string text = "[";
  for (size_t i = 0; i < errors.size() && i < kMaxErrors; ++i) {
    const FieldError& error = errors[i];
    if (i != 0) text += ", ";
    text += "{'type': " + python_repr(std::string_view(error.type)) + ", 'loc': " + tuple_repr(error.loc) +
            ", 'msg': " + python_repr(std::string_view(error.msg)) + ", 'input': " + input_repr(error, is_secret);
    if (!error.context.empty()) text += ", 'ctx': " + error.context;
    text += "}";
  }
  return text + "]";
}

json::array deeper(const json::array& loc, json::value step) {
  json::array longer = loc;
  longer.push_back(std::move(step));
  return longer;
}

std::optional<json::value> read_json_body(std::string_view body, FieldErrors& errors) {
  if (body.empty()) {
    errors.push_back({"missing", {"body"}, "Field required", nullptr, ""});
    return std::nullopt;
  }
  // Python reads bytes with a byte order mark, and refuses text with one.
  if (body.starts_with(kByteOrderMark)) body.remove_prefix(kByteOrderMark.size());
  auto value = python_loads(body);
  if (value) return std::move(*value);
  errors.push_back(broken_json(value.error().what));
  return std::nullopt;
}

}  // namespace bj
