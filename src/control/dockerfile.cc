#include "control/dockerfile.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace bj {
namespace {

namespace json = boost::json;

struct Instruction {
  size_t line = 0;
  std::string word;  // in capitals
  std::string rest;
};

std::string trimmed(std::string_view text) {
  const size_t from = std::min(text.find_first_not_of(" \t\r"), text.size());
  const size_t to = text.find_last_not_of(" \t\r");
  return from >= text.size() ? std::string() : std::string(text.substr(from, to - from + 1));
}

tl::unexpected<Error> wrong(size_t line, const std::string& what) {
  return fail(Code::kInvalid, fmt::format("line {}: {}", line, what));
}

// Lines joined at backslashes; comments and empty ones gone.
std::vector<Instruction> instructions_of(std::string_view text) {
  std::vector<Instruction> all;
  std::string joined;
  size_t begun = 0, number = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    const std::string bare = trimmed(line);
    if (bare.starts_with("#") || (bare.empty() && joined.empty())) continue;
    if (joined.empty()) begun = number;
    const bool goes_on = bare.ends_with("\\");
    joined += goes_on ? bare.substr(0, bare.size() - 1) : bare;
    if (goes_on && !text.empty()) {
      joined += " ";
      continue;
    }
    const std::string whole = trimmed(joined);
    joined.clear();
    const size_t space = std::min(whole.find_first_of(" \t"), whole.size());
    Instruction one{begun, whole.substr(0, space), trimmed(std::string_view(whole).substr(space))};
    std::transform(one.word.begin(), one.word.end(), one.word.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
    if (!one.word.empty()) all.push_back(std::move(one));
  }
  return all;
}

// Words between spaces; quotes hold them together.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool inside = false;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == '\\' && quote == '"' && i + 1 < text.size() && (text[i + 1] == '"' || text[i + 1] == '\\')) {
        word += text[++i];
      } else if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
      inside = true;
    } else if (c == ' ' || c == '\t') {
      if (inside) words.push_back(std::exchange(word, {}));
      inside = false;
    } else {
      word += c;
      inside = true;
    }
  }
  if (inside) words.push_back(word);
  return words;
}

std::string shell_quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// `["a", "b"]` as a shell has it; any other text as it is.
std::string shell_form(const std::string& text) {
  json::error_code bad;
  const json::value value = text.starts_with("[") ? json::parse(text, bad) : json::value();
  if (bad || !value.is_array()) return text;
  std::string command;
  for (const json::value& word : value.get_array()) {
    if (!word.is_string()) return text;
    command += (command.empty() ? "" : " ") + shell_quoted(std::string(word.get_string()));
  }
  return command;
}

Result<std::vector<std::string>> pairs_of(const Instruction& one) {
  std::vector<std::string> pairs;
  const std::vector<std::string> words = words_of(one.rest);
  if (words.empty()) return wrong(one.line, "ENV takes NAME=value");
  if (words[0].find('=') == std::string::npos) {  // the old form: ENV NAME the rest
    const size_t space = one.rest.find_first_of(" \t");
    if (space == std::string::npos) return wrong(one.line, "ENV takes NAME=value");
    return std::vector<std::string>{one.rest.substr(0, space), trimmed(std::string_view(one.rest).substr(space))};
  }
  for (const std::string& word : words) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0) return wrong(one.line, "ENV takes NAME=value");
    pairs.push_back(word.substr(0, equals));
    pairs.push_back(word.substr(equals + 1));
  }
  return pairs;
}

// COPY [--chown=a:b] [--chmod=755] source... destination: a step for each source.
Result<void> add_copies(const Instruction& one, std::vector<BuildStep>& steps) {
  std::vector<std::string> words = words_of(one.rest);
  std::string owner, mode;
  while (!words.empty() && words[0].starts_with("--")) {
    if (words[0].starts_with("--chown=")) {
      owner = words[0].substr(8);
    } else if (words[0].starts_with("--chmod=")) {
      mode = words[0].substr(8);
    } else {
      return wrong(one.line, "COPY knows --chown and --chmod, not " + words[0].substr(0, 40));
    }
    words.erase(words.begin());
  }
  if (words.size() < 2) return wrong(one.line, "COPY takes sources and a destination");
  const std::string target = words.back();
  words.pop_back();
  if (words.size() > 1 && !target.ends_with("/"))
    return wrong(one.line, "COPY of several sources needs a destination that ends with /");
  for (const std::string& source : words) steps.push_back({StepKind::kCopy, {source, target, owner, mode}, "", false});
  return {};
}

// `packages` or `{"rules": ...}`.
Result<std::string> policy_of(const Instruction& one) {
  if (!one.rest.starts_with("{")) return json::serialize(json::value(one.rest));
  json::error_code bad;
  const json::value policy = json::parse(one.rest, bad);
  if (bad) return wrong(one.line, "NETWORK takes none, packages, open or a policy as JSON");
  return json::serialize(policy);
}

}  // namespace

Result<ParsedDockerfile> parse_dockerfile(std::string_view text) {
  ParsedDockerfile parsed;
  std::string entry, command;
  for (const Instruction& one : instructions_of(text)) {
    if (one.rest.empty()) return wrong(one.line, one.word.substr(0, 40) + " says nothing");
    const auto simple = [&](StepKind kind, std::string argument) {
      parsed.steps.push_back({kind, {std::move(argument)}, "", false});
    };
    if (one.word == "FROM") {
      if (!parsed.from.empty()) return wrong(one.line, "there can be one FROM");
      if (words_of(one.rest).size() != 1) return wrong(one.line, "FROM takes one name");
      parsed.from = one.rest;
    } else if (one.word == "RUN") {
      if (one.rest.starts_with("--")) return wrong(one.line, "RUN has no options");
      simple(StepKind::kRun, shell_form(one.rest));
    } else if (one.word == "COPY") {
      BJ_CHECK(add_copies(one, parsed.steps));
    } else if (one.word == "ENV") {
      BJ_TRY(std::vector<std::string> pairs, pairs_of(one));
      parsed.steps.push_back({StepKind::kEnv, std::move(pairs), "", false});
    } else if (one.word == "WORKDIR") {
      simple(StepKind::kWorkdir, one.rest);
    } else if (one.word == "USER") {
      simple(StepKind::kUser, one.rest.substr(0, one.rest.find(':')));
    } else if (one.word == "START") {
      parsed.start_command = shell_form(one.rest);
    } else if (one.word == "READY") {
      parsed.ready_command = shell_form(one.rest);
    } else if (one.word == "NETWORK") {
      if (parsed.network) return wrong(one.line, "there can be one NETWORK");
      BJ_TRY(parsed.network, policy_of(one));
    } else if (one.word == "ENTRYPOINT") {
      entry = shell_form(one.rest);
    } else if (one.word == "CMD") {
      command = shell_form(one.rest);
    } else if (one.word != "EXPOSE" && one.word != "LABEL") {  // those two change nothing
      return wrong(one.line,
                   "there is no instruction " + one.word.substr(0, 40) +
                       " here: FROM, RUN, COPY, ENV, WORKDIR, USER, START, READY, NETWORK, CMD, ENTRYPOINT are");
    }
  }
  if (parsed.start_command.empty())
    parsed.start_command = entry + (entry.empty() || command.empty() ? "" : " ") + command;
  return parsed;
}

}  // namespace bj
