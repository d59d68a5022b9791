#include "tools/typescript_source.h"

#include <algorithm>
#include <initializer_list>

#include "tools/argument_literal.h"
#include "tools/code_points.h"

namespace bj {
namespace {

namespace json = boost::json;

bool space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

size_t skip_space(std::string_view text, size_t at) {
  while (at < text.size() && space(text[at])) ++at;
  return at;
}

// The line without the blanks at its end if it is one whole import; empty: it is none.
std::string_view whole_import(std::string_view line) {
  while (!line.empty() && space(line.back())) line.remove_suffix(1);
  std::string_view text = line;
  if (text.ends_with(';')) text.remove_suffix(1);
  const bool whole = text.starts_with("import") && text.size() >= std::string_view("import x'").size() &&
                     space(text[6]) && (text.ends_with('\'') || text.ends_with('"'));
  return whole ? line : std::string_view();
}

// Eats `first` and the white space that must follow it; npos: it isn't there.
size_t eat(std::string_view text, size_t at, std::string_view first) {
  if (at == text.npos || !text.substr(at).starts_with(first)) return text.npos;
  const size_t end = at + first.size();
  return end < text.size() && space(text[end]) ? skip_space(text, end) : text.npos;
}

// Behind all of these words, each followed by white space; npos: they aren't there.
size_t eat_all(std::string_view text, size_t at, std::initializer_list<std::string_view> words) {
  for (const std::string_view one : words) at = eat(text, at, one);
  return at;
}

// The first place behind such words at which `good` holds; npos: there is none.
template <class Good>
size_t find_behind(std::string_view text, std::initializer_list<std::string_view> words, const Good& good) {
  for (size_t at = text.find(*words.begin()); at != text.npos; at = text.find(*words.begin(), at + 1)) {
    const size_t behind = eat_all(text, at, words);
    if (behind != text.npos && good(behind)) return behind;
  }
  return text.npos;
}

std::string_view word_at(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && word(text[end])) ++end;
  return text.substr(at, end - at);
}

// Positions behind each word `export` and its white space.
template <class F>
void for_each_export(std::string_view text, F&& visit) {
  for (size_t at = text.find("export"); at != text.npos; at = text.find("export", at + 1)) {
    if (at > 0 && word(text[at - 1])) continue;
    const size_t behind = eat(text, at, "export");
    if (behind != text.npos) visit(at, behind);
  }
}

bool begins_line(std::string_view text, size_t at) {
  while (at > 0 && (text[at - 1] == ' ' || text[at - 1] == '\t')) --at;
  return at == 0 || text[at - 1] == '\n';
}

std::string without_exports(std::string_view text, ExportRemoval removal) {
  std::string out;
  size_t copied = 0;
  for_each_export(text, [&](size_t at, size_t behind) {
    if (at < copied || (removal == ExportRemoval::kStatements && !begins_line(text, at))) return;
    out += text.substr(copied, at - copied);
    copied = behind;
    if (removal == ExportRemoval::kStatements) {
      if (const size_t after = eat(text, behind, "default"); after != text.npos) copied = after;
    }
  });
  out += text.substr(copied);
  return out;
}

const json::object* parameters_of(const json::object* json_schema) {
  const json::value* parameters = json_schema == nullptr ? nullptr : json_schema->if_contains("parameters");
  return parameters == nullptr ? nullptr : parameters->if_object();
}

const json::object* properties_of(const json::object* json_schema) {
  const json::object* parameters = parameters_of(json_schema);
  const json::value* properties = parameters == nullptr ? nullptr : parameters->if_contains("properties");
  return properties == nullptr ? nullptr : properties->if_object();
}

void add_once(std::vector<std::string>& order, std::string_view name) {
  if (std::find(order.begin(), order.end(), name) == order.end()) order.emplace_back(name);
}

// The schema's names in the order of parameters.
std::vector<std::string> schema_order(const json::object* json_schema) {
  std::vector<std::string> order;
  const json::object* parameters = parameters_of(json_schema);
  const json::value* required = parameters == nullptr ? nullptr : parameters->if_contains("required");
  if (required != nullptr && required->is_array()) {
    for (const json::value& name : required->get_array()) {
      if (name.is_string()) add_once(order, name.get_string());
    }
  }
  if (const json::object* properties = properties_of(json_schema)) {
    for (const auto& property : *properties) add_once(order, property.key());
  }
  return order;
}

}  // namespace

TypescriptParts take_apart(std::string_view source, ExportRemoval removal) {
  TypescriptParts parts;
  std::string rest;
  for (size_t at = 0; at < source.size();) {
    size_t end = std::min(source.find('\n', at), source.size());
    const std::string_view line = source.substr(at, end - at);
    if (const std::string_view whole = whole_import(line); !whole.empty()) {
      parts.imports.emplace_back(whole);
      end = skip_space(source, end);  // blank lines below go with it
      if (end < source.size()) end = source.rfind('\n', end);
    } else {
      rest += line;
    }
    if (end < source.size()) rest += '\n';
    at = end + 1;
  }
  parts.body = python_strip(without_exports(rest, removal));
  return parts;
}

std::optional<std::string> exported_function(std::string_view source) {
  const auto has_name = [source](size_t at) { return !word_at(source, at).empty(); };
  size_t name = find_behind(source, {"export", "function"}, has_name);
  if (name == source.npos) name = find_behind(source, {"export", "async", "function"}, has_name);
  if (name == source.npos) return std::nullopt;
  return std::string(word_at(source, name));
}

bool is_async_export(std::string_view source, std::string_view name) {
  const auto is_named = [&](size_t at) { return source.substr(at).starts_with(name); };
  const auto is_async_constant = [&](size_t at) {
    if (!is_named(at)) return false;
    const size_t equals = skip_space(source, at + name.size());
    return source.substr(equals).starts_with('=') && source.substr(skip_space(source, equals + 1)).starts_with("async");
  };
  return find_behind(source, {"export", "async", "function"}, is_named) != source.npos ||
         find_behind(source, {"export", "const"}, is_async_constant) != source.npos;
}

std::vector<std::string> call_order(const json::object& arguments, const json::object* json_schema) {
  std::vector<std::string> order;
  for (const std::string& name : schema_order(json_schema)) {
    if (arguments.contains(name)) order.push_back(name);
  }
  for (const auto& argument : arguments) add_once(order, argument.key());
  return order;
}

std::vector<std::string> call_order_with_gaps(const json::object& arguments, const json::object* json_schema) {
  std::vector<std::string> order = schema_order(json_schema);
  const auto last = std::find_if(order.rbegin(), order.rend(),
                                 [&arguments](const std::string& name) { return arguments.contains(name); });
  // Leftovers can only stand behind every parameter that is known.
  const bool leftovers = std::any_of(arguments.begin(), arguments.end(), [&order](const auto& argument) {
    return std::find(order.begin(), order.end(), std::string_view(argument.key())) == order.end();
  });
  if (!leftovers) order.erase(last.base(), order.end());
  for (const auto& argument : arguments) add_once(order, argument.key());
  return order;
}

PythonResult<std::vector<std::string>> argument_lines(const json::object& arguments, const json::object* json_schema) {
  const json::object* properties = properties_of(json_schema);
  std::vector<std::string> lines;
  for (const auto& [name, value] : arguments) {
    json::value type;
    const json::value* property = properties == nullptr ? nullptr : properties->if_contains(name);
    if (property != nullptr && property->is_object() && property->get_object().contains("type")) {
      type = property->get_object().at("type");
    }
    const auto literal = typescript_argument_literal(type, value);
    if (!literal) return tl::unexpected(literal.error());
    lines.push_back("const " + std::string(name) + " = " + *literal + ";");
  }
  return lines;
}

std::string call_line(std::string_view name, std::string_view source, const std::vector<std::string>& order) {
  std::string line = "const _result = ";
  if (is_async_export(source, name)) line += "await ";
  line += std::string(name) + "(";
  for (size_t i = 0; i < order.size(); ++i) line += (i == 0 ? "" : ", ") + order[i];
  return line + ");";
}

}  // namespace bj
