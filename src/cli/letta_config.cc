#include "cli/letta_config.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "sys/files.h"

namespace bj {
namespace {

constexpr size_t kLongestFile = 1 << 20;
constexpr std::string_view kBlanks = " \t\r";

std::string_view trimmed(std::string_view text) {
  const size_t start = std::min(text.find_first_not_of(kBlanks), text.size());
  return text.substr(start, text.find_last_not_of(kBlanks) + 1 - start);
}

// The text between the quotes at the start of `text`; nothing: it does not end.
std::optional<std::string> unquoted(std::string_view text) {
  const char quote = text.front();
  std::string value;
  for (size_t i = 1; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    const bool escapes = quote == '\'' ? rest.starts_with("''") : rest.size() > 1 && rest.front() == '\\';
    if (escapes) {
      value += text[++i];
    } else if (text[i] == quote) {
      return value;
    } else {
      value += text[i];
    }
  }
  return std::nullopt;
}

bool one_of(std::string_view text, std::initializer_list<const char*> words) {
  return std::any_of(words.begin(), words.end(), [text](const char* word) { return text == word; });
}

// The value behind "key:"; nothing: none, or not one on a line of its own.
std::optional<std::string> value_of(std::string_view text) {
  if (text.starts_with('"') || text.starts_with('\'')) return unquoted(text);
  text = trimmed(text.substr(0, text.find(" #")));
  if (text.empty() || text.find_first_of("[{&*!|>%@`#") == 0) return std::nullopt;
  if (one_of(text, {"~", "null", "Null", "NULL"})) return std::nullopt;
  if (one_of(text, {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"})) return "true";
  if (one_of(text, {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"})) return "false";
  return std::string(text);
}

// A line inside of which others may be nested.
struct Level {
  size_t indent = 0;
  std::string name;  // upper-case, with those above: "E2B_"; "" at `tool:`
};

std::string upper(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return result;
}

// What the names below a key begin with; nothing: the section has no settings of ours.
std::optional<std::string> prefix_of(const std::vector<Level>& levels, std::string_view key) {
  if (!levels.empty()) return levels.back().name + upper(key) + "_";
  if (key == "letta") return "LETTA_";
  if (key == "tool") return "";
  return std::nullopt;
}

}  // namespace

std::vector<GivenSetting> read_letta_config(const std::string& text, const std::string& file) {
  std::vector<GivenSetting> given;
  std::vector<Level> levels;
  size_t number = 0;
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size());
    const std::string_view line = std::string_view(text).substr(start, end - start);
    start = end + 1;
    ++number;
    const size_t indent = std::min(line.find_first_not_of(' '), line.size());
    const std::string_view content = trimmed(line);
    const size_t colon = std::min(content.find(": "), content.ends_with(':') ? content.size() - 1 : content.npos);
    if (content.empty() || content.starts_with('#') || content.starts_with("- ") || colon == content.npos) continue;
    while (!levels.empty() && levels.back().indent >= indent) levels.pop_back();
    if (levels.empty() && indent > 0) continue;  // of another section
    const std::optional<std::string> prefix = prefix_of(levels, content.substr(0, colon));
    if (!prefix) continue;
    levels.push_back({indent, *prefix});
    const std::optional<std::string> value = value_of(trimmed(content.substr(colon + 1)));
    const std::string name = prefix->substr(0, prefix->empty() ? 0 : prefix->size() - 1);
    if (value && is_tool_setting(name)) given.push_back({name, *value, file + ":" + std::to_string(number)});
  }
  return given;
}

std::vector<GivenSetting> letta_config_files(const Lookup& environment) {
  std::vector<GivenSetting> given;
  const std::string home = environment("HOME");
  for (const std::string& file : {home.empty() ? home : home + "/.letta/conf.yaml", environment("LETTA_CONFIG_PATH")}) {
    const Result<std::string> text = file.empty() ? Result<std::string>("") : read_file(file, kLongestFile);
    if (!text) continue;
    for (GivenSetting& setting : read_letta_config(*text, file)) given.push_back(std::move(setting));
  }
  return given;
}

std::vector<GivenSetting> file_settings(const Settings& settings) {
  std::vector<GivenSetting> files = letta_config_files(process_environment);
  files.insert(files.end(), settings.tool_settings.begin(), settings.tool_settings.end());
  return files;
}

}  // namespace bj
