#include "engine/volume_disk.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "engine/process_table.h"
#include "engine/sandbox.h"
#include "sys/file_lock.h"
#include "sys/files.h"
#include "sys/loop.h"
#include "sys/mount.h"

namespace bj {
namespace {

constexpr const char* kProgram = "/usr/sbin/mke2fs";
constexpr const char* kInside = "/volume";

// lost+found is for repairs by hand; a volume begins empty.
constexpr const char* kFormat =
    "mke2fs -q -F -t ext4 -m 0 -e remount-ro -E root_owner=1000:1000,lazy_itable_init=1,lazy_journal_init=1 disk && "
    "debugfs -w -R 'rmdir lost+found' disk";

Result<void> make_empty(const std::string& directory, uint64_t size_bytes) {
  BJ_CHECK(make_directories(directory, 0700));
  BJ_TRY(const Fd file, open_path(directory + "/disk", O_CREAT | O_EXCL | O_RDWR, 0600));
  if (::ftruncate(file.get(), static_cast<off_t>(size_bytes)) != 0) return fail_errno("ftruncate(" + directory + ")");
  return {};
}

Result<std::shared_ptr<Fd>> tree_of(const std::string& directory) {
  BJ_TRY(Fd tree, clone_tree(AT_FDCWD, directory, Recursive::kNo));
  return std::make_shared<Fd>(std::move(tree));
}

// Its exit status and what it said.
Task<Result<void>> run_format(Sandbox& sandbox) {
  ProcessSpec spec;
  spec.arguments = {"/bin/sh", "-c", kFormat};
  spec.directory = kInside;
  spec.environment["PATH"] = "/usr/sbin:/usr/bin:/sbin:/bin";
  BJ_CO_TRY(Process process, co_await sandbox.start(std::move(spec)));
  process.input.reset();
  Captured said;
  asio::posix::stream_descriptor errors(co_await asio::this_coro::executor, process.error.release());
  co_await capture(errors, 4096, said);
  BJ_CO_TRY(const ExitReport exit, co_await process.exit->get());
  if (exit.status != 0) co_return fail(Code::kUnavailable, "the volume's disk could not be made: " + said.text);
  co_return Result<void>();
}

Task<Result<void>> format(Host& host, Template base, std::shared_ptr<Fd> tree, uint64_t size_bytes) {
  SandboxSpec spec;
  spec.image = std::move(base);
  spec.user = "root";
  spec.limits.disk_bytes = std::max(spec.limits.disk_bytes, size_bytes);  // as large as a file may be there
  MountSpec mount;
  mount.tree = std::move(tree);
  mount.target = kInside;
  mount.writable = true;
  spec.mounts.push_back(std::move(mount));
  BJ_CO_TRY(const auto sandbox, co_await Sandbox::create(host, std::move(spec)));
  sandbox->expire_at(Clock::now() + std::chrono::minutes(2));
  Result<void> done = co_await run_format(*sandbox);
  co_await sandbox->destroy();
  co_return done;
}

}  // namespace

Result<void> check_volumes(const Host& host) {
  const auto refuse = [](const std::string& why) {
    return fail(Code::kUnavailable, "there can be no volumes here: " + why);
  };
  if (!host.uids) return refuse("they need a server that runs as root");
  if (!host.abilities.idmapped_mounts.available) return refuse(host.abilities.idmapped_mounts.detail);
  if (const Result<void> loops = check_loop_devices(); !loops) return refuse(loops.error().what);
  if (::access(kProgram, X_OK) != 0) return refuse("mke2fs is missing (package e2fsprogs)");
  return {};
}

Task<Result<void>> make_volume_disk(Host& host, Template base, std::string path, uint64_t size_bytes) {
  BJ_CO_CHECK(check_volumes(host));
  const std::string directory = path + ".new";
  const auto begin = [directory, size_bytes]() -> Result<std::shared_ptr<Fd>> {
    BJ_CHECK(make_empty(directory, size_bytes));
    return tree_of(directory);
  };
  const auto clear = [directory] { return remove_tree(AT_FDCWD, directory); };
  Result<std::shared_ptr<Fd>> tree = co_await offload(*host.workers, begin);
  Result<void> made =
      tree ? co_await format(host, std::move(base), std::move(*tree), size_bytes) : tl::unexpected(tree.error());
  if (made) {
    const auto place = [directory, path]() -> Result<void> {
      if (::rename((directory + "/disk").c_str(), path.c_str()) != 0) return fail_errno("rename(" + path + ")");
      return {};
    };
    made = co_await offload(*host.workers, place);
  }
  (void)co_await offload(*host.workers, clear);
  co_return made;
}

Result<Fd> mount_volume_disk(const std::string& path) {
  // Opened twice: a loop device keeps the file that it was given, and a lock on that would stay with it.
  BJ_TRY(const Fd lock, open_path(path, O_RDONLY));
  BJ_CHECK(lock_file(lock.get(), Lock::kAlone, path));
  BJ_TRY(const Fd file, open_path(path, O_RDWR));
  BJ_TRY(const LoopDevice device, ensure_loop_device(file.get()));
  return new_filesystem("ext4", {{"source", device.path.c_str()}}, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
}

}  // namespace bj
