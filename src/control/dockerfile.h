// A Dockerfile's text as steps: FROM, RUN, COPY, ENV, WORKDIR, USER, and, of our own, START, READY and NETWORK. CMD and
// ENTRYPOINT become the start command if there is no START. Anything else is refused with its line: what can't be done
// is not left out in silence. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/template_request.h"

namespace bj {

// Which files a COPY is of: whoever has the files uploads them and fills in BuildStep::files.
struct ParsedDockerfile {
  std::string from;              // as it is written: a template's name or an image's; empty: no FROM
  std::vector<BuildStep> steps;  // COPY without files yet
  std::string start_command;
  std::string ready_command;
  std::optional<std::string> network;  // JSON, not looked into: a policy of its sandboxes
};

// kInvalid, with the line.
Result<ParsedDockerfile> parse_dockerfile(std::string_view text);

}  // namespace bj
