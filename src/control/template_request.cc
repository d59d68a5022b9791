#include "control/template_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "control/template_files.h"

namespace bj {
namespace {

namespace json = boost::json;

constexpr size_t kMostSteps = 256;
constexpr size_t kLongestArgument = 256 << 10;
constexpr size_t kMostArguments = 2000;

struct Rule {
  StepKind kind;
  std::string_view name;
  size_t least, most;
};
constexpr Rule kRules[] = {{StepKind::kRun, "RUN", 1, 2},
                           {StepKind::kCopy, "COPY", 2, 4},
                           {StepKind::kEnv, "ENV", 2, kMostArguments},
                           {StepKind::kWorkdir, "WORKDIR", 1, 1},
                           {StepKind::kUser, "USER", 1, 1}};

tl::unexpected<Error> wrong(std::string sentence) { return fail(Code::kInvalid, std::move(sentence)); }

bool variable_name(const std::string& name) {
  return !name.empty() && !(name[0] >= '0' && name[0] <= '9') && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

// What useradd takes, or a number; never an option.
bool user_name(const std::string& name) {
  return !name.empty() && name.size() <= 32 && name[0] != '-' && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  });
}

bool owner(const std::string& text) {
  const size_t colon = text.find(':');
  return text.empty() ||
         (user_name(text.substr(0, colon)) && (colon == std::string::npos || user_name(text.substr(colon + 1))));
}

bool octal_mode(const std::string& text) {
  return text.empty() ||
         (text.size() <= 4 && text.size() >= 3 && text.find_first_not_of("01234567") == std::string::npos);
}

Result<void> check_arguments(const BuildStep& step) {
  const auto& given = step.arguments;
  switch (step.kind) {
    case StepKind::kRun:
      if (given.size() > 1 && !given[1].empty() && !user_name(given[1])) return wrong("RUN: that is no user's name");
      break;
    case StepKind::kCopy:
      if (given[0].empty() || given[1].empty()) return wrong("COPY: source and destination may not be empty");
      if (given.size() > 2 && !owner(given[2])) return wrong("COPY: an owner is user or user:group");
      if (given.size() > 3 && !octal_mode(given[3])) return wrong("COPY: a mode is three or four octal digits");
      if (!is_files_hash(step.files)) return wrong("COPY: its files were not uploaded (no hash of 64 hex digits)");
      break;
    case StepKind::kEnv:
      if (given.size() % 2 != 0) return wrong("ENV takes pairs of name and value");
      for (size_t i = 0; i < given.size(); i += 2) {
        if (!variable_name(given[i])) return wrong("ENV: \"" + given[i].substr(0, 64) + "\" is no variable's name");
      }
      break;
    case StepKind::kWorkdir:
      if (given[0].empty()) return wrong("WORKDIR: the path may not be empty");
      break;
    case StepKind::kUser:
      if (!user_name(given[0])) return wrong("USER: that is no user's name");
      break;
  }
  return {};
}

}  // namespace

std::string_view step_name(StepKind kind) {
  for (const Rule& rule : kRules) {
    if (rule.kind == kind) return rule.name;
  }
  return "";
}

Result<BuildStep> make_step(std::string_view kind, std::vector<std::string> arguments, std::string files, bool force) {
  const auto* const rule =
      std::find_if(std::begin(kRules), std::end(kRules), [kind](const Rule& one) { return one.name == kind; });
  if (rule == std::end(kRules))
    return wrong("there is no step \"" + std::string(kind.substr(0, 64)) + "\": RUN, COPY, ENV, WORKDIR, USER are");
  if (arguments.size() < rule->least || arguments.size() > rule->most)
    return wrong(fmt::format("{} takes {} to {} arguments", rule->name, rule->least, rule->most));
  for (const std::string& argument : arguments) {
    if (argument.size() > kLongestArgument || argument.find('\0') != std::string::npos)
      return wrong(fmt::format("{}: an argument is longer than 256 KiB, or holds a NUL character", rule->name));
  }
  BuildStep step{rule->kind, std::move(arguments), std::move(files), force};
  BJ_CHECK(check_arguments(step));
  return step;
}

Result<void> check_request(const BuildRequest& request) {
  if (!request.from_template.empty() && !request.from_image.empty())
    return wrong("a template begins with a template or with an image, not with both");
  if (request.steps.size() > kMostSteps) return wrong("a build may have 256 steps");
  for (const std::string* command : {&request.start_command, &request.ready_command}) {
    if (command->size() > kLongestArgument || command->find('\0') != std::string::npos)
      return wrong("a start or ready command is longer than 256 KiB, or holds a NUL character");
  }
  return {};
}

json::object request_json(const BuildRequest& request) {
  json::array steps;
  for (const BuildStep& step : request.steps) {
    steps.push_back(json::object{{"type", step_name(step.kind)},
                                 {"args", json::array(step.arguments.begin(), step.arguments.end())},
                                 {"files", step.files},
                                 {"force", step.force}});
  }
  return {
      {"from_template", request.from_template}, {"from_image", request.from_image},       {"steps", std::move(steps)},
      {"start_command", request.start_command}, {"ready_command", request.ready_command}, {"force", request.force}};
}

std::string request_text(const BuildRequest& request) { return json::serialize(request_json(request)); }

}  // namespace bj
