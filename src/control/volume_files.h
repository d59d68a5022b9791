// The files of one volume by paths that begin at its top. Sandboxes write into volumes what they like, links included:
// a path that ends outside because of one is refused. What lies outside is the sandbox that the manager looks
// through and nothing of the host (volume_manager.h); this keeps a volume's answers to the volume itself.
//
// Work is done with root's rights inside. Stays on its thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/sandbox_files.h"

namespace bj {

// Whose something is and who may use it; absent: as it is, or as usual for what is made.
struct VolumeRights {
  std::optional<uid_t> uid;
  std::optional<gid_t> gid;
  std::optional<unsigned> mode;  // permission bits
};

class VolumeFiles {
 public:
  static constexpr int kDeepest = 10;  // directories that a listing goes down

  explicit VolumeFiles(std::shared_ptr<SandboxFiles> files) : files_(std::move(files)) {}

  // What lies there; a link is not followed. Paths in answers begin at the volume's top.
  Task<Result<FileInfo>> stat(std::string path);
  Task<Result<std::vector<FileInfo>>> list(std::string path, int depth);
  // kMustExist: kConflict if there is something already, kNotFound without what should hold it. kMake: directories
  // above it are made, and one that is there stays as it is.
  Task<Result<FileInfo>> make_directory(std::string path, VolumeRights rights, Parents parents);
  // Of what a link leads to.
  Task<Result<FileInfo>> change(std::string path, VolumeRights rights);
  // With everything in it. The top itself can't be removed.
  Task<Result<void>> remove(std::string path);
  Task<Result<SandboxFiles::Opened>> open_to_read(std::string path);
  // kNew fails with kConflict if there is something; kReplace makes the directories above it.
  Task<Result<SandboxFiles::Opened>> open_to_write(std::string path, VolumeRights rights, Writing writing);

  // Who reads and writes what was opened; valid as long as it is held.
  const std::shared_ptr<SandboxFiles>& files() const { return files_; }

 private:
  // The path below the sandbox's root, without empty parts. kInvalid: it has "..".
  static Result<std::string> inside(const std::string& path);
  static FileInfo shown(FileInfo info);
  // kDenied: the object that the descriptor names is not of the volume.
  Task<Result<void>> check(const Fd& fd);
  // What lies at a path inside, if it is of the volume.
  Task<Result<Fd>> locate(std::string inside, LastLink link);
  Task<Result<void>> check_parent(const std::string& inside);
  Task<Result<void>> make_one(std::string inside, VolumeRights rights);
  Task<Result<void>> make_parents(const std::string& inside, VolumeRights rights);
  Result<void> set_rights(int fd, const VolumeRights& rights) const;

  std::shared_ptr<SandboxFiles> files_;
  std::optional<dev_t> device_;
};

}  // namespace bj
