// How a template shall be built: what it begins with, and steps. The words of a Dockerfile, as data.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace bj {

enum class StepKind { kRun, kCopy, kEnv, kWorkdir, kUser };
std::string_view step_name(StepKind kind);  // "RUN"

// Arguments: RUN text [user]; COPY source destination [owner [mode]]; ENV name value ...; WORKDIR path; USER name.
struct BuildStep {
  StepKind kind = StepKind::kRun;
  std::vector<std::string> arguments;
  std::string files;   // of COPY: the hash under which its archive was uploaded
  bool force = false;  // it and what follows is done again, whatever is remembered

  bool operator==(const BuildStep&) const = default;
};

struct BuildRequest {
  std::string from_template;  // at most one of these; neither: "base"
  std::string from_image;
  std::vector<BuildStep> steps;
  std::string start_command;
  std::string ready_command;
  bool force = false;

  bool operator==(const BuildRequest&) const = default;
};

// kInvalid, with a sentence that names the step: numbers of arguments, lengths, names.
Result<BuildStep> make_step(std::string_view kind, std::vector<std::string> arguments, std::string files, bool force);
Result<void> check_request(const BuildRequest& request);

boost::json::object request_json(const BuildRequest& request);
std::string request_text(const BuildRequest& request);

}  // namespace bj
