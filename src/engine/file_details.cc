#include "engine/file_details.h"

#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <charconv>
#include <sstream>
#include <vector>

namespace bj {
namespace {

constexpr size_t kMostNames = 64 * 1024;  // bytes of attribute names that are looked at
constexpr size_t kLongestNote = 64 * 1024;
constexpr size_t kLongestAccounts = 1 << 20;

// By the link that the kernel keeps for it: descriptors that only name a file have no other way to its attributes.
std::string own_link(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

std::vector<std::string> attribute_names(int fd, const std::string& prefix) {
  const std::string link = own_link(fd);
  if (::listxattr(link.c_str(), nullptr, 0) <= 0) return {};
  std::string names(kMostNames, '\0');
  const ssize_t size = ::listxattr(link.c_str(), names.data(), names.size());
  std::vector<std::string> found;
  std::string_view rest = std::string_view(names).substr(0, size > 0 ? static_cast<size_t>(size) : 0);
  while (!rest.empty()) {
    const std::string_view name = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(std::min(rest.size(), name.size() + 1));
    if (name.starts_with(prefix)) found.emplace_back(name);
  }
  return found;
}

void read_accounts(const std::string& text, std::map<uint32_t, std::string>& names) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t name = line.find(':');
    const size_t password = name == std::string::npos ? name : line.find(':', name + 1);
    if (password == std::string::npos) continue;
    const size_t end = std::min(line.find(':', password + 1), line.size());
    uint32_t number = 0;
    const auto [stop, bad] = std::from_chars(line.data() + password + 1, line.data() + end, number);
    if (bad == std::errc() && stop == line.data() + end) names.emplace(number, line.substr(0, name));
  }
}

Task<std::string> text_of(SandboxFiles& files, std::string path) {
  const Result<SandboxFiles::Opened> opened = co_await files.open_to_read(std::move(path), files.strongest_user());
  if (!opened) co_return std::string();
  co_return (co_await files.read(*opened, 0, kLongestAccounts)).value_or(std::string());
}

std::string name_or_number(const std::map<uint32_t, std::string>& names, uint32_t number) {
  const auto found = names.find(number);
  return found == names.end() ? std::to_string(number) : found->second;
}

Result<std::string> resolved_path(int fd) {
  std::string path(4096, '\0');
  const ssize_t size = ::readlink(own_link(fd).c_str(), path.data(), path.size());
  if (size < 0) return fail_errno("readlink");
  path.resize(static_cast<size_t>(size));
  return path;
}

}  // namespace

Task<void> OwnerNames::load() {
  if (std::exchange(loaded_, true)) co_return;
  read_accounts(co_await text_of(files_, "/etc/passwd"), users_);
  read_accounts(co_await text_of(files_, "/etc/group"), groups_);
}

Task<std::string> OwnerNames::user(uid_t uid) {
  if (uid == 0) co_return "root";
  co_await load();
  co_return name_or_number(users_, uid);
}

Task<std::string> OwnerNames::group(gid_t gid) {
  if (gid == 0) co_return "root";
  co_await load();
  co_return name_or_number(groups_, gid);
}

FileNotes notes_of(int fd, const std::string& prefix) {
  FileNotes notes;
  for (const std::string& name : attribute_names(fd, prefix)) {
    std::string value(kLongestNote, '\0');
    const ssize_t size = ::getxattr(own_link(fd).c_str(), name.c_str(), value.data(), value.size());
    if (size < 0) continue;
    value.resize(static_cast<size_t>(size));
    notes[name.substr(prefix.size())] = std::move(value);
  }
  return notes;
}

Result<void> set_notes(int fd, const std::string& prefix, const FileNotes& notes) {
  for (const std::string& name : attribute_names(fd, prefix)) {
    if (!notes.contains(name.substr(prefix.size()))) (void)::removexattr(own_link(fd).c_str(), name.c_str());
  }
  for (const auto& [key, value] : notes) {
    if (::setxattr(own_link(fd).c_str(), (prefix + key).c_str(), value.data(), value.size(), 0) != 0)
      return fail_errno("setxattr(" + prefix + key + ")");
  }
  return {};
}

Task<Result<FileDetails>> details_of(SandboxFiles& files, OwnerNames& names, std::string path, std::string user,
                                     std::string prefix) {
  BJ_CO_TRY(FileInfo info, co_await files.stat(std::move(path), user));
  co_return co_await details_of(files, names, std::move(info), std::move(user), std::move(prefix));
}

Task<Result<FileDetails>> details_of(SandboxFiles& files, OwnerNames& names, FileInfo listed, std::string user,
                                     std::string prefix) {
  FileDetails details;
  details.info = std::move(listed);
  details.owner = co_await names.user(details.info.uid);
  details.group = co_await names.group(details.info.gid);
  if (details.info.kind == FileKind::kOther) co_return details;
  const std::string& path = details.info.path;
  const Result<Fd> fd = co_await files.locate(path, std::move(user), LastLink::kFollow);
  if (!fd) co_return details;  // it leads nowhere, or in a circle
  if (details.info.kind == FileKind::kLink) {
    struct stat status{};
    if (::fstat(fd->get(), &status) != 0) co_return fail_errno("fstat(" + path + ")");
    details.target = files.info_from_status(status);
    BJ_CO_TRY(details.target_path, resolved_path(fd->get()));
  }
  details.notes = notes_of(fd->get(), prefix);
  co_return details;
}

}  // namespace bj
