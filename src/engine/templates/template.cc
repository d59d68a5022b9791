#include "engine/templates/template.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "engine/import/import_report.h"
#include "engine/own_programs.h"
#include "sys/files.h"
#include "sys/machine_root.h"
#include "sys/names.h"

namespace bj {
namespace {

constexpr const char* kPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

Result<void> append_line(const Fd& etc, const std::string& file, const std::string& name, const std::string& line,
                         unsigned mode) {
  std::string text;
  if (const Result<Fd> old = open_at(etc.get(), file, O_RDONLY | O_NOFOLLOW)) {
    text = read_all(old->get(), 1 << 20, file).value_or("");
  }
  if (text.starts_with(name + ":") || text.find("\n" + name + ":") != std::string::npos) return {};
  if (!text.empty() && text.back() != '\n') text += '\n';
  text += line + "\n";
  (void)remove_file(etc.get(), file);
  BJ_TRY(const Fd fresh, open_at(etc.get(), file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode));
  return write_all(fresh.get(), text, file);
}

// Makes `path` ("a/b") below root, one real directory at a time: a symlink in an imported root can't lead us out.
Result<Fd> ensure_plain_directory(const Fd& root, const std::string& path, unsigned mode) {
  BJ_TRY(Fd at, open_at(root.get(), ".", O_PATH | O_DIRECTORY));
  std::istringstream parts(path);
  for (std::string part; std::getline(parts, part, '/');) {
    if (const Result<void> made = ensure_directory(at.get(), part, 0755); !made)
      return fail_with(made.error().sys, "mkdir(" + path + ")");
    Result<Fd> next = open_at(at.get(), part, O_PATH | O_DIRECTORY | O_NOFOLLOW);
    if (!next) {
      return fail(Code::kInvalid,
                  "/" + path + " in the template is not a plain directory (a symlink?): it must be one");
    }
    at = std::move(*next);
  }
  if (::fchmodat(at.get(), ".", mode, 0) != 0) return fail_errno("chmod(" + path + ")");
  return at;
}

// Into the first of these that the root has, so that every PATH leads to it, also that of a login shell. What an image
// has of that name further on is setuid and does nothing in a sandbox. Nothing is replaced, no link followed.
void link_sudo(const Fd& root) {
  for (const std::string path : {"usr/local/bin", "usr/bin", "bin"}) {
    Result<Fd> at = open_at(root.get(), ".", O_PATH | O_DIRECTORY);
    std::istringstream parts(path);
    for (std::string part; at && std::getline(parts, part, '/');)
      at = open_at(at->get(), part, O_PATH | O_DIRECTORY | O_NOFOLLOW);
    if (!at) continue;
    (void)make_symlink(kSudo, at->get(), "sudo");
    return;
  }
}

// The topmost /etc/passwd. A layer may be a sandbox's work: nothing in it is followed, and only a file is read.
Result<std::string> accounts_of(const std::vector<TemplateLayer>& layers) {
  for (const TemplateLayer& layer : layers) {
    if (layer.target != "/") continue;
    BJ_TRY(const Fd root, open_path(layer.path, O_PATH | O_DIRECTORY));
    const Result<Fd> etc = open_at(root.get(), "etc", O_PATH | O_DIRECTORY | O_NOFOLLOW);
    if (!etc && etc.error().code == Code::kNotFound) continue;
    if (!etc) return tl::unexpected(etc.error());
    const Result<struct stat> info = status_at(etc->get(), "passwd");
    if (!info) continue;
    if (!S_ISREG(info->st_mode)) return fail(Code::kInvalid, "/etc/passwd is not a file");
    BJ_TRY(const Fd passwd, open_at(etc->get(), "passwd", O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
    return read_all(passwd.get(), 1 << 20, "/etc/passwd");
  }
  return fail(Code::kNotFound, "there is no /etc/passwd");
}

}  // namespace

std::string default_path() { return std::string(kOwnPrograms) + ":" + kPath; }

bool valid_template_name(const std::string& name) {
  if (name.empty() || name.size() > 64 || name[0] == '.' || name[0] == '-' || name[0] == '_') return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
  });
}

Result<void> complete_root(const std::string& root_path) {
  BJ_TRY(const Fd root, open_path(root_path, O_PATH | O_DIRECTORY));
  for (const char* dir : {"proc", "sys", "dev", "run", "opt/belljar", "opt/packages", "etc"})
    BJ_CHECK(ensure_plain_directory(root, dir, 0755));
  BJ_CHECK(ensure_plain_directory(root, "tmp", 01777));
  BJ_CHECK(ensure_plain_directory(root, "root", 0700));
  BJ_TRY(const Fd home, ensure_plain_directory(root, "home/user", 0755));
  if (is_machine_root()) BJ_CHECK(change_owner(home.get(), "", 1000, 1000));
  link_sudo(root);
  BJ_TRY(const Fd etc, open_at(root.get(), "etc", O_PATH | O_DIRECTORY | O_NOFOLLOW));
  BJ_CHECK(append_line(etc, "passwd", "root", "root:x:0:0:root:/root:/bin/sh", 0644));
  BJ_CHECK(append_line(etc, "passwd", "user", "user:x:1000:1000:user:/home/user:/bin/sh", 0644));
  BJ_CHECK(append_line(etc, "group", "root", "root:x:0:", 0644));
  return append_line(etc, "group", "user", "user:x:1000:", 0644);
}

std::vector<std::string> Template::targets() const {
  std::vector<std::string> out;
  out.reserve(layers.size());
  for (const TemplateLayer& layer : layers) out.push_back(layer.target);
  return out;
}

std::optional<Account> account_in(const std::string& accounts, const std::string& user_name) {
  std::istringstream lines(accounts);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> fields;
    std::istringstream parts(line);
    for (std::string field; std::getline(parts, field, ':');) fields.push_back(field);
    if (fields.size() < 6 || (fields[0] != user_name && fields[2] != user_name)) continue;
    uint32_t uid = 65536, gid = 65536;
    std::from_chars(fields[2].data(), fields[2].data() + fields[2].size(), uid);
    std::from_chars(fields[3].data(), fields[3].data() + fields[3].size(), gid);
    if (uid < 65536 && gid < 65536) return Account{uid, gid, fields[5].starts_with("/") ? fields[5] : "/"};
  }
  return std::nullopt;
}

Result<Account> Template::account(const std::string& user_name) const {
  if (user_name == "root") return Account{0, 0, "/root"};
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(user_name.data(), user_name.data() + user_name.size(), number);
  const bool numeric = error == std::errc() && end == user_name.data() + user_name.size();
  if (numeric && number >= 65536) return fail(Code::kInvalid, "user id " + user_name + " is not below 65536");
  BJ_TRY(const std::string text, accounts_of(layers));
  if (const std::optional<Account> found = account_in(text, user_name)) return *found;
  if (numeric) return Account{number, number, "/"};
  return fail(Code::kNotFound, "template " + name + " has no user \"" + user_name + "\"");
}

Result<Template> TemplateStore::find(const std::string& name) const {
  if (name == "base") return ensure_base_template(directory_);
  const std::string path = directory_ + "/" + name + "/rootfs";
  struct stat info{};
  if (!valid_template_name(name) || ::stat(path.c_str(), &info) != 0) {
    return fail(Code::kNotFound, "there is no template \"" + name +
                                     "\": `belljar template list` shows those that are, "
                                     "`belljar template import NAME FILE` makes one");
  }
  BJ_TRY(const ImageSettings settings, read_image_settings(directory_ + "/" + name));
  Template found;
  found.name = name;
  found.layers = {{path, "/"}};
  found.environment = settings.environment;
  std::string& search = found.environment["PATH"];
  search = search.empty() ? default_path() : std::string(kOwnPrograms) + ":" + search;
  const std::string user = settings.user.substr(0, settings.user.find(':'));
  if (!user.empty()) found.user = user;
  found.workdir = settings.workdir;
  return found;
}

Result<std::vector<std::string>> TemplateStore::names() const {
  std::vector<std::string> names{"base"};
  const Result<Fd> dir = open_path(directory_, O_RDONLY | O_DIRECTORY);
  if (!dir) return names;
  BJ_TRY(const auto entries, list_directory(dir->get()));
  for (const Entry& entry : entries) {
    struct stat info{};
    const std::string root = directory_ + "/" + entry.name + "/rootfs";
    if (valid_template_name(entry.name) && entry.name != "base" && ::stat(root.c_str(), &info) == 0)
      names.push_back(entry.name);
  }
  std::sort(names.begin() + 1, names.end());
  return names;
}

Result<void> TemplateStore::remove(const std::string& name) const {
  if (name == "base") return fail(Code::kInvalid, "the base template is the host's own view and can't be removed");
  BJ_TRY(const Template found, find(name));
  BJ_TRY(const Fd dir, open_path(directory_, O_RDONLY | O_DIRECTORY));
  return remove_tree(dir.get(), name);
}

}  // namespace bj
