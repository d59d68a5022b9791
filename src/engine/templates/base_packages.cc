#include "engine/templates/base_packages.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <sstream>

#include "engine/environments/environment_index.h"
#include "sys/files.h"

namespace bj {
namespace {

constexpr size_t kLargestStatus = 64u << 20;
constexpr size_t kLargestFile = 1u << 20;
constexpr const char* kDatabase = "/var/lib/dpkg";

// A paragraph of dpkg's status: a package.
struct Package {
  std::string name, architecture;
  bool same = false;  // Multi-Arch: same: may be there for several architectures

  std::string list_name() const { return name + (same ? ":" + architecture : "") + ".list"; }
};

std::string value_of(const std::string& line, const std::string& field) {
  return line.starts_with(field + ": ") ? line.substr(field.size() + 2) : "";
}

// Names become those of files.
bool is_plain(const std::string& name) { return !name.empty() && name.find('/') == std::string::npos; }

std::vector<Package> packages_in(const std::string& status) {
  std::vector<Package> packages;
  std::istringstream lines(status);
  for (std::string line; std::getline(lines, line);) {
    if (const std::string name = value_of(line, "Package"); !name.empty()) packages.push_back({name, "", false});
    if (packages.empty()) continue;
    if (const std::string given = value_of(line, "Architecture"); !given.empty()) packages.back().architecture = given;
    if (line == "Multi-Arch: same") packages.back().same = true;
  }
  return packages;
}

// What others may read of a file of the host.
std::string readable_text(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode) || (info.st_mode & S_IROTH) == 0) return {};
  return read_file(path, kLargestFile).value_or("");
}

Result<void> copy_file(const std::string& from, const std::string& to) {
  const std::string text = readable_text(from);
  if (text.empty() || mask_credentials(text) != text) return {};
  return write_file_atomically(to, text, 0644);
}

// The files of one directory, if the host has it; not those below.
Result<void> copy_files(const std::string& from, const std::string& to) {
  BJ_CHECK(make_directories(to, 0755));
  const Result<Fd> directory = open_path(from, O_RDONLY | O_DIRECTORY);
  if (!directory) return {};
  BJ_TRY(const auto entries, list_directory(directory->get()));
  for (const Entry& entry : entries) BJ_CHECK(copy_file(from + "/" + entry.name, to + "/" + entry.name));
  return {};
}

Result<void> write_database(const std::string& place, const std::string& status) {
  for (const char* directory : {"/info", "/updates", "/triggers"}) BJ_CHECK(make_directories(place + directory, 0755));
  BJ_CHECK(write_file_atomically(place + "/status", status, 0644));
  BJ_CHECK(write_file_atomically(place + "/info/format", "1\n", 0644));
  for (const Package& package : packages_in(status)) {
    if (!is_plain(package.name) || !is_plain("-" + package.architecture)) continue;
    BJ_CHECK(open_path(place + "/info/" + package.list_name(), O_WRONLY | O_CREAT, 0644));
  }
  return {};
}

}  // namespace

Result<void> add_package_database(const std::string& root, const std::string& host) {
  const std::string place = host + kDatabase;
  const Result<std::string> status = read_file(place + "/status", kLargestStatus);
  if (!status || status->empty()) return {};
  BJ_CHECK(write_database(root + kDatabase, *status));
  BJ_CHECK(copy_files(place + "/alternatives", root + kDatabase + "/alternatives"));
  for (const std::string path : {"/etc/apt/sources.list.d", "/etc/apt/trusted.gpg.d", "/etc/apt/keyrings"})
    BJ_CHECK(copy_files(host + path, root + path));
  BJ_CHECK(copy_file(host + "/etc/apt/sources.list", root + "/etc/apt/sources.list"));
  for (const char* directory : {"/etc/apt/apt.conf.d", "/etc/apt/preferences.d", "/var/cache/debconf"})
    BJ_CHECK(make_directories(root + directory, 0755));
  return {};
}

}  // namespace bj
