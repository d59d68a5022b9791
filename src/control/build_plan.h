// A build's steps in groups: each is done in a sandbox of its own and leaves one layer. A group is named by the hash of
// everything that leads to its end, so that a build that begins as one before it finds what that led to. Pure.
//
// Few layers make a fast root, so a long build has several steps in a group; a step that may need a user that was made
// before it begins one.
#pragma once

#include <string>
#include <vector>

#include "control/template_request.h"

namespace bj {

struct BuildGroup {
  std::vector<size_t> steps;  // their places in the request, in order
  std::string chain;          // 64 hex digits
  bool force = false;         // nothing remembered counts, from here on
};

// `beginning` names what the build begins with.
std::vector<BuildGroup> plan_build(const BuildRequest& request, const std::string& beginning, size_t most_groups);

}  // namespace bj
