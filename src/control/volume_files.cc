#include "control/volume_files.h"

#include <sys/stat.h>

#include "control/volume_manager.h"
#include "sys/directory.h"

namespace bj {
namespace {

constexpr const char* kRights = "root";
// Of whoever works in a sandbox. What is made is open to the others there, too: their ids may differ.
constexpr uid_t kUsualOwner = 1000;
constexpr unsigned kDirectoryMode = 0777;
constexpr unsigned kFileMode = 0666;

std::string parent_of(const std::string& inside) { return inside.substr(0, inside.rfind('/')); }

VolumeRights completed(VolumeRights rights, unsigned mode) {
  return {rights.uid.value_or(kUsualOwner), rights.gid.value_or(kUsualOwner), rights.mode.value_or(mode)};
}

}  // namespace

Result<std::string> VolumeFiles::inside(const std::string& path) {
  std::string result = VolumeManager::kTop;
  for (size_t at = 0; at < path.size();) {
    const size_t end = std::min(path.find('/', at), path.size());
    const std::string part = path.substr(at, end - at);
    if (part == "..") return fail(Code::kInvalid, "a path in a volume does not have ..");
    if (!part.empty() && part != ".") result += "/" + part;
    at = end + 1;
  }
  return result;
}

FileInfo VolumeFiles::shown(FileInfo info) {
  info.path = info.path.substr(std::string_view(VolumeManager::kTop).size());
  if (info.path.empty()) info.path = info.name = "/";
  return info;
}

// A volume is a filesystem of its own, so its number tells.
Task<Result<void>> VolumeFiles::check(const Fd& fd) {
  struct stat status{};
  if (!device_) {
    BJ_CO_TRY(const Fd top, co_await files_->locate(VolumeManager::kTop, kRights, LastLink::kKeep));
    if (::fstat(top.get(), &status) != 0) co_return fail_errno("fstat(volume)");
    device_ = status.st_dev;
  }
  if (::fstat(fd.get(), &status) != 0) co_return fail_errno("fstat");
  if (status.st_dev != *device_) co_return fail(Code::kDenied, "a link leads out of the volume");
  co_return Result<void>();
}

Task<Result<Fd>> VolumeFiles::locate(std::string inside, LastLink link) {
  BJ_CO_TRY(Fd fd, co_await files_->locate(inside, kRights, link));
  BJ_CO_CHECK(co_await check(fd));
  co_return fd;
}

Task<Result<void>> VolumeFiles::check_parent(const std::string& inside) {
  BJ_CO_CHECK(co_await locate(parent_of(inside), LastLink::kFollow));
  co_return Result<void>();
}

Task<Result<FileInfo>> VolumeFiles::stat(std::string path) {
  BJ_CO_TRY(const std::string at, inside(path));
  BJ_CO_TRY(const Fd fd, co_await locate(at, LastLink::kKeep));
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) co_return fail_errno("fstat(" + path + ")");
  FileInfo info = files_->info_from_status(status);
  if (info.kind == FileKind::kLink) {
    BJ_CO_TRY(info.link_target, link_text(fd.get()));
  }
  info.path = at;
  info.name = at.substr(at.rfind('/') + 1);
  co_return shown(std::move(info));
}

Task<Result<std::vector<FileInfo>>> VolumeFiles::list(std::string path, int depth) {
  BJ_CO_TRY(const std::string at, inside(path));
  BJ_CO_CHECK(co_await locate(at, LastLink::kFollow));
  BJ_CO_TRY(FileListing listing, co_await files_->list(at, kRights, std::min(depth, kDeepest)));
  if (listing.cut) co_return fail(Code::kInvalid, "there is more in it than can be listed at once");
  for (FileInfo& entry : listing.entries) entry = shown(std::move(entry));
  co_return std::move(listing.entries);
}

Result<void> VolumeFiles::set_rights(int fd, const VolumeRights& rights) const {
  if (rights.uid || rights.gid) BJ_CHECK(files_->give(fd, rights.uid, rights.gid));
  // By the link that the kernel keeps for a descriptor which only names a file; after the owner, whose change would
  // take bits away.
  if (rights.mode && ::chmod(("/proc/self/fd/" + std::to_string(fd)).c_str(), *rights.mode) != 0)
    return fail_errno("chmod");
  return {};
}

Task<Result<void>> VolumeFiles::make_one(std::string inside, VolumeRights rights) {
  BJ_CO_CHECK(co_await check_parent(inside));
  BJ_CO_CHECK(co_await files_->make_directory(inside, kRights, Parents::kMustExist));
  BJ_CO_TRY(const Fd made, co_await locate(inside, LastLink::kKeep));
  co_return set_rights(made.get(), completed(rights, kDirectoryMode));
}

Task<Result<void>> VolumeFiles::make_parents(const std::string& inside, VolumeRights rights) {
  rights.mode.reset();  // theirs are the usual ones
  const size_t top = std::string_view(VolumeManager::kTop).size();
  for (size_t slash = inside.find('/', top + 1); slash != std::string::npos; slash = inside.find('/', slash + 1)) {
    const std::string directory = inside.substr(0, slash);
    const Result<Fd> there = co_await locate(directory, LastLink::kFollow);
    if (there) continue;
    if (there.error().code != Code::kNotFound) co_return tl::unexpected(there.error());
    const Result<void> made = co_await make_one(directory, rights);
    if (!made && made.error().code != Code::kConflict) co_return made;
  }
  co_return Result<void>();
}

Task<Result<FileInfo>> VolumeFiles::make_directory(std::string path, VolumeRights rights, Parents parents) {
  BJ_CO_TRY(const std::string at, inside(path));
  if (parents == Parents::kMake) BJ_CO_CHECK(co_await make_parents(at, rights));
  const bool top = at == VolumeManager::kTop;
  const Result<void> made = top ? fail(Code::kConflict, "the volume's top is there") : co_await make_one(at, rights);
  if (!made && (parents != Parents::kMake || made.error().code != Code::kConflict))
    co_return tl::unexpected(made.error());
  BJ_CO_TRY(FileInfo info, co_await stat(path));
  if (info.kind != FileKind::kDirectory) co_return fail(Code::kConflict, "mkdir(" + path + "): it is not a directory");
  co_return info;
}

Task<Result<FileInfo>> VolumeFiles::change(std::string path, VolumeRights rights) {
  BJ_CO_TRY(const std::string at, inside(path));
  BJ_CO_TRY(const Fd fd, co_await locate(at, LastLink::kFollow));
  BJ_CO_CHECK(set_rights(fd.get(), rights));
  co_return co_await stat(path);
}

Task<Result<void>> VolumeFiles::remove(std::string path) {
  BJ_CO_TRY(const std::string at, inside(path));
  if (at == VolumeManager::kTop) co_return fail(Code::kInvalid, "the volume's top can't be removed");
  BJ_CO_CHECK(co_await check_parent(at));
  co_return co_await files_->remove(at, kRights, Removal::kTree);
}

Task<Result<SandboxFiles::Opened>> VolumeFiles::open_to_read(std::string path) {
  BJ_CO_TRY(const std::string at, inside(path));
  BJ_CO_TRY(SandboxFiles::Opened opened, co_await files_->open_to_read(at, kRights));
  BJ_CO_CHECK(co_await check(*opened.file));
  co_return opened;
}

// Looked at before it is opened, because opening makes a file; and after, because a sandbox may have changed the way.
Task<Result<SandboxFiles::Opened>> VolumeFiles::open_to_write(std::string path, VolumeRights rights, Writing writing) {
  BJ_CO_TRY(const std::string at, inside(path));
  if (at == VolumeManager::kTop) co_return fail(Code::kInvalid, "the volume's top is a directory");
  if (writing != Writing::kNew) BJ_CO_CHECK(co_await make_parents(at, rights));
  BJ_CO_CHECK(co_await check_parent(at));
  const bool there = (co_await files_->locate(at, kRights, LastLink::kKeep)).has_value();
  if (there && writing != Writing::kNew) BJ_CO_CHECK(co_await locate(at, LastLink::kFollow));
  Result<SandboxFiles::Opened> opened =
      co_await files_->open_to_write(at, kRights, kFileMode, writing, Parents::kMustExist);
  if (!opened && opened.error().sys == EEXIST)
    co_return fail(Code::kConflict, "there is something at " + path + " already: force replaces it", EEXIST);
  if (!opened) co_return opened;
  BJ_CO_CHECK(co_await check(*opened->file));
  BJ_CO_CHECK(set_rights(opened->file->get(), completed(rights, kFileMode)));
  co_return opened;
}

}  // namespace bj
