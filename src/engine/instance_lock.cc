#include "engine/instance_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>

#include "sys/file_lock.h"
#include "sys/files.h"
#include "sys/names.h"

namespace bj {
namespace {

constexpr int kAttempts = 100;

std::string random_name() {
  uint64_t bits = 0;
  (void)::getrandom(&bits, sizeof bits, 0);
  return fmt::format("{:016x}", bits);
}

bool lock(const Fd& file) { return try_lock_file(file.get(), Lock::kAlone, "instance").value_or(false); }

// False when another took it for a dead instance's file, between our open and our lock, and removed it.
bool still_there(const Fd& file) {
  const Result<struct stat> info = status_at(file.get(), "");
  return info && info->st_nlink > 0;
}

}  // namespace

Result<InstanceLock> InstanceLock::take(const std::string& directory, const std::string& note) {
  BJ_CHECK(make_directories(directory, 0700));
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::string name = random_name();
    const std::string path = directory + "/" + name;
    BJ_TRY(Fd file, open_path(path, O_RDWR | O_CREAT | O_EXCL, 0600));
    if (!lock(file) || !still_there(file)) continue;
    BJ_CHECK(write_all(file.get(), note, path));
    return InstanceLock(directory, std::move(name), std::move(file));
  }
  return fail(Code::kUnavailable, "files in " + directory + " are being removed again and again");
}

void InstanceLock::clean_after_dead(const std::function<bool(const std::string& name)>& remove) const {
  const Result<Fd> dir = open_path(directory_, O_RDONLY | O_DIRECTORY);
  if (!dir) return;
  const auto entries = list_directory(dir->get());
  if (!entries) return;
  for (const Entry& entry : *entries) {
    if (entry.name == name_) continue;
    const Result<Fd> file = open_at(dir->get(), entry.name, O_RDWR | O_NOFOLLOW);
    if (file && lock(*file) && remove(entry.name)) (void)remove_file(dir->get(), entry.name);
  }
}

void InstanceLock::release() {
  if (file_.ok()) (void)remove_file(AT_FDCWD, directory_ + "/" + name_);
  file_.reset();
}

}  // namespace bj
