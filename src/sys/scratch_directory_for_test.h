// A directory of a test's own, gone with everything in it when the test is over.
#pragma once

#include <fcntl.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

#include "sys/files.h"

namespace bj {

class ScratchDirectory {
 public:
  ScratchDirectory() : path_(std::filesystem::temp_directory_path() / "belljar-test-XXXXXX") {
    if (::mkdtemp(path_.data()) == nullptr) ::abort();
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory() { (void)remove_tree(AT_FDCWD, path_); }

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace bj
