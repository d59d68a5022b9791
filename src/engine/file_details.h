// More about what lies at a path of a sandbox than a listing tells: what a link leads to, the names of owners, and the
// notes that callers keep with a file (extended attributes of one prefix). Works on descriptors that the warden gave.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "engine/sandbox_files.h"

namespace bj {

using FileNotes = std::map<std::string, std::string>;

struct FileDetails {
  FileInfo info;                   // of the thing itself; a link is not followed
  std::optional<FileInfo> target;  // of a link that leads somewhere
  std::string target_path;         // the whole way resolved
  std::string owner, group;        // by name where the sandbox has one, else the number
  FileNotes notes;
};

// Names of owners as the sandbox's own /etc has them, read once.
class OwnerNames {
 public:
  explicit OwnerNames(SandboxFiles& files) : files_(files) {}
  Task<std::string> user(uid_t uid);
  Task<std::string> group(gid_t gid);

 private:
  Task<void> load();

  SandboxFiles& files_;
  bool loaded_ = false;
  std::map<uint32_t, std::string> users_, groups_;
};

// As `user`, who needs the right to look. `prefix`: of the attributes that are notes, "user.e2b.".
Task<Result<FileDetails>> details_of(SandboxFiles& files, OwnerNames& names, std::string path, std::string user,
                                     std::string prefix);
// Of what a listing has told of already: its path is the sandbox's.
Task<Result<FileDetails>> details_of(SandboxFiles& files, OwnerNames& names, FileInfo listed, std::string user,
                                     std::string prefix);

// Exactly these notes from now on. Values are checked by whoever takes them.
Result<void> set_notes(int fd, const std::string& prefix, const FileNotes& notes);
FileNotes notes_of(int fd, const std::string& prefix);

}  // namespace bj
