// The base template: a skeleton of our own over the host's /usr. What of /etc is copied stands in one list; nothing of
// /root, /home, /var but which packages there are (base_packages.h), no sockets, no secrets; what others can't read
// below /usr is masked (usr_mask.h).
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

#include "engine/own_programs.h"
#include "engine/templates/base_packages.h"
#include "engine/templates/template.h"
#include "engine/templates/usr_mask.h"
#include "sys/directory.h"
#include "sys/file_lock.h"
#include "sys/files.h"
#include "sys/machine_root.h"
#include "sys/mount.h"
#include "sys/names.h"

namespace bj {
namespace {

constexpr int kFormat = 7;  // counted up when what is made here changes
constexpr const char* kSkeleton = "/rootfs";
constexpr const char* kMask = "/mask";  // is not there when nothing is to be hidden

// Files and directories of the host's /etc that programs need and that tell nothing.
// clang-format off
constexpr std::array kFromEtc = {
    "adduser.conf",  "alternatives",  "bash.bashrc",     "ca-certificates", "debconf.conf", "debian_version",
    "dpkg",          "fonts",         "inputrc",
    "java-17-openjdk", "ld.so.cache", "ld.so.conf",      "ld.so.conf.d",   "locale.alias", "localtime",
    "login.defs",    "magic",         "magic.mime",      "mime.types",     "nsswitch.conf", "os-release",
    "perl",          "protocols",     "python3",         "python3.9",      "python3.10",  "python3.11",
    "python3.12",    "python3.13",    "rpc",             "services",       "skel",        "ssl/certs",
    "ssl/openssl.cnf", "terminfo",    "timezone",        "vim",            "xattr.conf"};
// clang-format on

constexpr std::array kLinks = {"bin", "sbin", "lib", "lib32", "lib64", "libx32"};

constexpr const char* kAccounts =
    "root:x:0:0:root:/root:/bin/bash\n"
    "daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n"
    "bin:x:2:2:bin:/bin:/usr/sbin/nologin\n"
    "sys:x:3:3:sys:/dev:/usr/sbin/nologin\n"
    "www-data:x:33:33:www-data:/var/www:/usr/sbin/nologin\n"
    "user:x:1000:1000:user:/home/user:/bin/bash\n"
    "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n";
constexpr const char* kGroups =
    "root:x:0:\ndaemon:x:1:\nbin:x:2:\nsys:x:3:\ntty:x:5:\nstaff:x:50:\nwww-data:x:33:\nuser:x:1000:\nnogroup:x:65534:\n";

// For login shells, in which E2B's clients run every command. As distributions have it, but a shell that knows who it
// is starts no program to ask, and a PATH that somebody chose (ENV of a template, a command's variables) stays: only
// the one that everybody gets, DEFAULT_PATH, is replaced.
constexpr const char* kProfile =
    R"(case "${PATH-}" in
""|"DEFAULT_PATH"|"/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
  if [ "${EUID:-$(/usr/bin/id -u)}" -eq 0 ]; then
    PATH="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
  else
    PATH="/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games"
  fi ;;
esac
export PATH
if [ "${PS1-}" ] && [ "${BASH-}" ] && [ "$BASH" != "/bin/sh" ] && [ -f /etc/bash.bashrc ]; then
  . /etc/bash.bashrc
fi
for i in /etc/profile.d/*.sh; do
  if [ -r "$i" ]; then
    . "$i"
  fi
done
unset i
)";

// Copies regular files, directories and symlinks; anything else (sockets, devices) is left out, and so is what others
// can't read: a file that the host keeps from its users is not for sandboxes.
Result<void> copy_entry(int from, const std::string& name, int to) {
  const Result<struct stat> status = status_at(from, name);
  if (!status) return {};
  const struct stat& info = *status;
  if (S_ISLNK(info.st_mode)) {
    BJ_TRY(const std::string target, link_text_at(from, name));
    Result<void> made = make_symlink(target, to, name);
    return !made && made.error().sys == EEXIST ? Result<void>() : made;
  }
  if (S_ISREG(info.st_mode) && (info.st_mode & S_IROTH) != 0) {
    BJ_TRY(const Fd in, open_at(from, name, O_RDONLY | O_NOFOLLOW));
    BJ_TRY(const std::string data, read_all(in.get(), 64u << 20, name));
    BJ_TRY(const Fd out, open_at(to, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, info.st_mode & 0755));
    return write_all(out.get(), data, name);
  }
  if (S_ISDIR(info.st_mode) && (info.st_mode & S_IROTH) != 0) {
    BJ_CHECK(ensure_directory(to, name, 0755));
    BJ_TRY(const Fd source, open_at(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    BJ_TRY(const Fd target, open_at(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    BJ_TRY(const auto entries, list_directory(source.get()));
    for (const Entry& entry : entries) BJ_CHECK(copy_entry(source.get(), entry.name, target.get()));
  }
  return {};
}

Result<void> copy_etc(const std::string& root) {
  for (const std::string path : kFromEtc) {
    const size_t slash = path.find('/');
    const std::string parent = slash == std::string::npos ? "" : "/" + path.substr(0, slash);
    const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
    const Result<Fd> from = open_path("/etc" + parent, O_PATH | O_DIRECTORY);
    if (!from) continue;
    BJ_CHECK(make_directories(root + "/etc" + parent, 0755));
    BJ_TRY(const Fd to, open_path(root + "/etc" + parent, O_PATH | O_DIRECTORY));
    BJ_CHECK(copy_entry(from->get(), name, to.get()));
  }
  return {};
}

std::string profile() {
  constexpr std::string_view kHere = "DEFAULT_PATH";
  std::string text = kProfile;
  return text.replace(text.find(kHere), kHere.size(), default_path());
}

Result<void> write_own_files(const std::string& root) {
  BJ_CHECK(write_file_atomically(root + "/etc/passwd", kAccounts, 0644));
  BJ_CHECK(write_file_atomically(root + "/etc/group", kGroups, 0644));
  BJ_CHECK(write_file_atomically(root + "/etc/profile", profile(), 0644));
  // Debian keeps pip from its own packages; those of a sandbox are its user's.
  BJ_CHECK(write_file_atomically(root + "/etc/pip.conf", "[global]\nbreak-system-packages = true\n", 0644));
  BJ_CHECK(write_file_atomically(root + "/etc/hostname", "belljar\n", 0644));
  BJ_CHECK(write_file_atomically(root + "/etc/hosts", "127.0.0.1 localhost belljar\n::1 localhost\n", 0644));
  return write_file_atomically(root + "/etc/resolv.conf", "", 0644);
}

// /bin, /lib, ... as the host has them: links into /usr on every merged system.
Result<void> link_top_level(const std::string& root) {
  for (const std::string name : kLinks) {
    const Result<std::string> target = link_text_at(AT_FDCWD, "/" + name);
    if (target) BJ_CHECK(make_symlink(*target, AT_FDCWD, root + "/" + name));
  }
  if (!status_at(AT_FDCWD, root + "/bin")) {
    return fail(Code::kUnavailable,
                "this host keeps /bin outside /usr: import a template (belljar template import) instead");
  }
  return {};
}

Result<void> build_skeleton(const std::string& root) {
  BJ_CHECK(make_directories(root, 0755));
  for (const char* dir : {"/usr", "/etc", "/var/tmp", "/var/lib", "/var/log", "/var/cache", "/srv", "/mnt", "/media"}) {
    BJ_CHECK(make_directories(root + dir, 0755));
  }
  BJ_CHECK(change_mode(AT_FDCWD, root + "/var/tmp", 01777));
  // Where programs written for E2B put theirs.
  BJ_CHECK(make_directories(root + "/code", 0777));
  BJ_CHECK(change_mode(AT_FDCWD, root + "/code", 0777));
  BJ_CHECK(link_top_level(root));
  BJ_CHECK(copy_etc(root));
  BJ_CHECK(write_own_files(root));
  BJ_CHECK(add_package_database(root));
  return complete_root(root);
}

// Debian has python3 and leaves `python` to a package; programs that agents write say either.
Result<void> name_python(int usr, const std::string& mask) {
  if (!status_at(usr, "bin/python3") || status_at(usr, "bin/python")) return {};
  BJ_CHECK(make_directories(mask + "/bin", 0755));
  return make_symlink("python3", AT_FDCWD, mask + "/bin/python");
}

// Where every PATH finds it, also that of a login shell. It takes the place of the host's, which is setuid and does
// nothing in a sandbox.
Result<void> name_sudo(const std::string& mask) {
  BJ_CHECK(make_directories(mask + "/bin", 0755));
  const std::string place = mask + "/bin/sudo";
  BJ_CHECK(remove_file(AT_FDCWD, place));  // what hides the host's, if it has one
  return make_symlink(kSudo, AT_FDCWD, place);
}

// True unless it is hidden by the mask, or is something else than a directory on the host.
bool may_be_merged(int usr, const std::string& mask, const std::string& name) {
  const Result<struct stat> there = status_at(usr, name);
  const Result<struct stat> masked = status_at(AT_FDCWD, mask + "/" + name);
  return (!there || S_ISDIR(there->st_mode)) && (!masked || S_ISDIR(masked->st_mode));
}

// Everybody may install into /usr/local, as E2B's templates have it: it and its directories, not those below them. They
// are the mask's own, merged with the host's.
Result<void> open_local(int usr, const std::string& mask) {
  if (!may_be_merged(usr, mask, "local")) return {};
  for (const std::string name : {"local", "local/bin", "local/etc", "local/games", "local/include", "local/lib",
                                 "local/sbin", "local/share", "local/src"}) {
    if (!may_be_merged(usr, mask, name)) continue;
    const std::string path = mask + "/" + name;
    BJ_CHECK(make_directories(path, 0755));
    BJ_CHECK(change_mode(AT_FDCWD, path, 0777));
  }
  return {};
}

// What sandboxes see of /usr: the mount itself, with what other mounts cover on the host. Without root there are no
// idmapped layers, and whoever is root inside is nobody to these files.
Result<void> mask_usr(const std::string& mask) {
  if (!is_machine_root()) return {};
  BJ_TRY(const Fd tree, clone_tree(AT_FDCWD, "/usr", Recursive::kNo));
  BJ_TRY(const Fd usr, open_at(tree.get(), ".", O_RDONLY | O_DIRECTORY));
  BJ_CHECK(make_mask(usr.get(), mask));
  BJ_CHECK(name_sudo(mask));
  BJ_CHECK(open_local(usr.get(), mask));
  return name_python(usr.get(), mask);
}

Result<void> build(const std::string& place) {
  BJ_CHECK(build_skeleton(place + kSkeleton));
  return mask_usr(place + kMask);
}

// Changes when the host's libraries, alternatives, certificates or packages do, or files that an administrator puts
// below /usr: a stale copy of ld.so.cache breaks programs, a stale mask shows what came later.
std::string stamp() {
  uint64_t hash = 1469598103934665603ull + kFormat;
  for (const char* path : {"/etc/ld.so.cache", "/etc/alternatives", "/etc/ssl/certs", "/etc/os-release",
                           "/etc/apt/sources.list.d", "/var/lib/dpkg/status", "/usr", "/usr/local", "/usr/local/etc"}) {
    struct stat info{};
    if (::stat(path, &info) != 0) continue;
    hash = (hash ^ static_cast<uint64_t>(info.st_mtim.tv_sec)) * 1099511628211ull;
    hash = (hash ^ static_cast<uint64_t>(info.st_mtim.tv_nsec)) * 1099511628211ull;
  }
  return std::to_string(hash);
}

Result<void> build_once(const std::string& directory, const std::string& place) {
  if (status_at(AT_FDCWD, place)) return {};
  BJ_CHECK(make_directories(directory, 0755));
  BJ_TRY(const Fd lock, open_path(directory + "/lock", O_RDWR | O_CREAT, 0600));
  BJ_CHECK(lock_file(lock.get(), Lock::kAlone, directory + "/lock"));
  if (status_at(AT_FDCWD, place)) return {};
  const std::string aside = place + ".new";
  BJ_CHECK(remove_tree(AT_FDCWD, aside));
  const mode_t old = ::umask(022);
  Result<void> built = build(aside);
  ::umask(old);
  if (!built) {
    (void)remove_tree(AT_FDCWD, aside);
    return built;
  }
  return rename_at(AT_FDCWD, aside, place);
}

}  // namespace

Result<Template> ensure_base_template(const std::string& directory) {
  const std::string place = directory + "/base/" + stamp();
  BJ_CHECK(build_once(directory + "/base", place));
  Template base;
  base.name = "base";
  base.layers = {{place + kSkeleton, "/"}};
  if (status_at(AT_FDCWD, place + kMask)) base.layers.push_back({place + kMask, "/usr"});
  base.layers.push_back({"/usr", "/usr"});
  base.environment = {{"PATH", default_path()}, {"LANG", "C.UTF-8"}};
  return base;
}

}  // namespace bj
