#include "sys/directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "sys/files.h"

namespace bj {

Result<DirectoryPage> read_directory(int dir, size_t most) {
  BJ_TRY(Fd own, open_at(dir, ".", O_RDONLY | O_DIRECTORY));
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(own.get()), ::closedir);
  if (!stream) return fail_errno("fdopendir");
  (void)own.release();  // closedir closes it
  DirectoryPage page;
  for (;;) {
    errno = 0;
    const dirent* const entry = ::readdir(stream.get());
    if (entry == nullptr && errno != 0) return fail_errno("readdir");
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (page.entries.size() == most) {
      page.cut = true;
      break;
    }
    DirectoryEntry found;
    found.name = name;
    if (::fstatat(dir, entry->d_name, &found.status, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) != 0) continue;
    if (S_ISLNK(found.status.st_mode)) found.link_target = link_text_at(dir, found.name).value_or("");
    page.entries.push_back(std::move(found));
  }
  std::sort(page.entries.begin(), page.entries.end(),
            [](const DirectoryEntry& a, const DirectoryEntry& b) { return a.name < b.name; });
  return page;
}

Result<std::string> link_text(int fd) { return link_text_at(fd, ""); }

Result<std::string> link_text_at(int dir, const std::string& name) {
  char text[PATH_MAX];
  const ssize_t n = ::readlinkat(dir, name.c_str(), text, sizeof text);
  if (n < 0) return fail_errno("readlink(" + name + ")");
  return std::string(text, static_cast<size_t>(n));
}

}  // namespace bj
