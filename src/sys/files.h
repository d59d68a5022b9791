// Files and directories by descriptor. Functions that walk a tree never follow a symlink, because trees that a sandbox
// wrote are hostile.
#pragma once

#include <sys/stat.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/fd.h"

namespace bj {

// O_CLOEXEC is always added. `path` is relative to `dir` unless absolute; dir may be AT_FDCWD.
Result<Fd> open_at(int dir, const std::string& path, int flags, unsigned mode = 0);
Result<Fd> open_path(const std::string& path, int flags, unsigned mode = 0);

Result<std::string> read_all(int fd, size_t limit, const std::string& name);
Result<std::string> read_file(const std::string& path, size_t limit = 64u << 20);
Result<void> write_all(int fd, std::string_view data, const std::string& name);
// Overwrites what is there, in one write call: for /proc and /sys files.
Result<void> put_text(int dir, const std::string& path, std::string_view text);
// A new file appears whole or not at all (written aside, renamed).
Result<void> write_file_atomically(const std::string& path, std::string_view data, unsigned mode);

Result<void> make_directories(const std::string& path, unsigned mode);
// Removes `name` below `dir` and everything in it. A missing one is no failure.
Result<void> remove_tree(int dir, const std::string& name);

struct Entry {
  std::string name;
  unsigned char type = 0;  // DT_*
};
// Without "." and "..".
Result<std::vector<Entry>> list_directory(int dir);

// Descriptors 0, 1 and 2 that we were started without become /dev/null: the next file to be opened would take their
// place, and get what is meant for people.
void open_missing_stdio();

Result<Fd> anonymous_file(const char* name, std::string_view contents);  // a sealed memfd

}  // namespace bj
