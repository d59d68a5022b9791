// What a sandbox was asked to have beside its columns, as its row keeps it: JSON in SandboxRow::options.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "base/error.h"

namespace bj {

struct VolumeWish {
  std::string id;  // of the volume, known once its name was looked up
  std::string name;
  std::string path;  // where it is mounted inside
  bool read_only = false;
};

// A repository that is there, below the home of the sandbox's user, before the sandbox is called running.
struct GitWish {
  std::string url;
  std::string branch;  // or tag; empty: what the repository says
  std::string path;    // relative to the home; empty: as git names it
};

struct SandboxWishes {
  std::vector<VolumeWish> volumes;
  GitWish git;                      // no url: none
  bool extend_on_activity = false;  // whatever is done with it gives it its whole timeout again
};

// Paths are absolute, without . and .., each there once, and not where a sandbox has something of its own. Pure.
Result<void> check_volume_wishes(const std::vector<VolumeWish>& volumes);

// An http or https address without a user, a branch that is none of git's options, a path that stays where it is. Pure.
Result<void> check_git_wish(const GitWish& git);

std::string wishes_text(const SandboxWishes& wishes);
// What can't be read is not wished for: only we write it.
SandboxWishes wishes_of(const std::string& text);

}  // namespace bj
