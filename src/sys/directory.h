// What lies in a directory, with a bound: whoever filled it may have meant to fill our memory. Names are asked about
// relative to the descriptor and links are never followed.
#pragma once

#include <sys/stat.h>

#include <string>
#include <vector>

#include "base/error.h"

namespace bj {

struct DirectoryEntry {
  std::string name;
  struct stat status{};
  std::string link_target;  // of a symlink, its text
};

struct DirectoryPage {
  std::vector<DirectoryEntry> entries;  // by name
  bool cut = false;                     // there are more
};

// Blocks: call it on a worker. An entry that went away meanwhile is left out.
Result<DirectoryPage> read_directory(int dir, size_t most);

// The text of the symlink that an O_PATH descriptor names, or that is `name` in a directory.
Result<std::string> link_text(int fd);
Result<std::string> link_text_at(int dir, const std::string& name);

}  // namespace bj
