#include "engine/embedded.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/pack.h"
#include "sys/files.h"
#include "sys/names.h"

// Put in by the build (cmake/embed.S.in).
extern "C" {
extern const char belljar_warden_begin[], belljar_warden_end[];
extern const char belljar_runtimes_begin[], belljar_runtimes_end[];
}

namespace bj {
namespace {

Pack runtimes() {
  return Pack({belljar_runtimes_begin, static_cast<size_t>(belljar_runtimes_end - belljar_runtimes_begin)});
}

Result<void> unpack(const std::string& root) {
  BJ_CHECK(make_directories(root, 0755));
  for (Pack pack = runtimes(); !pack.done();) {
    const Pack::File file = pack.next();
    const std::string path = root + "/" + file.name;
    BJ_CHECK(make_directories(path.substr(0, path.rfind('/')), 0755));
    BJ_TRY(const Fd fd, open_path(path, O_WRONLY | O_CREAT | O_EXCL, file.mode));
    BJ_CHECK(write_all(fd.get(), file.data, path));
  }
  return {};
}

}  // namespace

std::string_view embedded_warden() {
  return {belljar_warden_begin, static_cast<size_t>(belljar_warden_end - belljar_warden_begin)};
}

std::string_view embedded_schema_tool() {
  for (Pack pack = runtimes(); !pack.done();) {
    const Pack::File file = pack.next();
    if (file.name == "python/schema_tool.py") return file.data;
  }
  return {};
}

Result<std::string> install_runtimes(const std::string& directory) {
  std::string root = directory + "/" + std::string(runtimes().hash().substr(0, 16));
  if (status_at(AT_FDCWD, root)) return root;
  BJ_CHECK(make_directories(directory, 0755));
  std::string aside = directory + "/new.XXXXXX";
  if (::mkdtemp(aside.data()) == nullptr) return fail_errno("mkdtemp(" + aside + ")");
  const mode_t old = ::umask(022);
  Result<void> unpacked = unpack(aside);
  ::umask(old);
  if (unpacked) unpacked = change_mode(AT_FDCWD, aside, 0755);
  // Another process may have been quicker; its copy is the same.
  if (!unpacked || !rename_at(AT_FDCWD, aside, root)) (void)remove_tree(AT_FDCWD, aside);
  if (!unpacked) return tl::unexpected(unpacked.error());
  return root;
}

}  // namespace bj
