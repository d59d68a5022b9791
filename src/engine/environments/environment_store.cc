#include "engine/environments/environment_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "engine/import/import_entry.h"
#include "sys/file_lock.h"
#include "sys/files.h"
#include "sys/names.h"

namespace bj {
namespace {

namespace json = boost::json;
using WallClock = std::chrono::system_clock;

constexpr const char* kStagingPrefix = ".build-";
constexpr const char* kRemovalPrefix = ".remove-";
constexpr const char* kLocks = ".locks";
constexpr const char* kRecord = "environment.json";
constexpr size_t kLongestRecord = 1u << 20;
constexpr size_t kShortestPrefix = 6;                     // of a key that stands for the whole
constexpr auto kFailureStays = std::chrono::seconds(10);  // long enough for a crowd, short enough for a person

bool is_key(std::string_view name) {
  return name.size() == 64 && name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

json::array to_array(const std::vector<std::string>& list) {
  json::array out;
  for (const std::string& item : list) out.emplace_back(item);
  return out;
}

std::vector<std::string> to_list(const json::value* value) {
  std::vector<std::string> out;
  if (value == nullptr || !value->is_array()) return out;
  for (const json::value& item : value->get_array()) {
    if (item.is_string()) out.emplace_back(item.get_string());
  }
  return out;
}

int64_t seconds_of(WallClock::time_point time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

std::string encode(const EnvironmentRecord& record) {
  return json::serialize(json::object{{"key", record.key},
                                      {"language", record.language == Language::kPython ? "python" : "typescript"},
                                      {"template", record.template_name},
                                      {"requirements", to_array(record.requirements)},
                                      {"site_dirs", to_array(record.site_dirs)},
                                      {"builder_seal", record.builder_seal},
                                      {"size_bytes", record.size_bytes},
                                      {"entries", record.entries},
                                      {"created", seconds_of(record.created)}}) +
         "\n";
}

std::string text_of(const json::object& object, const char* name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

uint64_t number_of(const json::object& object, const char* name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_int64() && value->get_int64() > 0 ? static_cast<uint64_t>(value->get_int64())
                                                                         : 0;
}

Result<EnvironmentRecord> decode(const std::string& text) {
  boost::system::error_code error;
  const json::value parsed = json::parse(text, error);
  if (error || !parsed.is_object()) return fail(Code::kInternal, "an environment's record is damaged");
  const json::object& object = parsed.get_object();
  EnvironmentRecord record;
  record.key = text_of(object, "key");
  record.language = text_of(object, "language") == "typescript" ? Language::kTypeScript : Language::kPython;
  record.template_name = text_of(object, "template");
  record.requirements = to_list(object.if_contains("requirements"));
  record.site_dirs = to_list(object.if_contains("site_dirs"));
  record.builder_seal = text_of(object, "builder_seal");
  record.size_bytes = number_of(object, "size_bytes");
  record.entries = number_of(object, "entries");
  record.created = WallClock::time_point(std::chrono::seconds(number_of(object, "created")));
  return record;
}

// Newest first. Names are numbers of the same length.
std::vector<std::string> generations(int key_directory) {
  std::vector<std::string> names;
  const auto entries = list_directory(key_directory);
  if (!entries) return names;
  for (const Entry& entry : *entries) {
    if (!entry.name.empty() && entry.name.find_first_not_of("0123456789") == std::string::npos) {
      names.push_back(entry.name);
    }
  }
  std::sort(names.rbegin(), names.rend());
  return names;
}

bool same_file(int fd, int directory, const std::string& name) {
  struct stat held{}, named{};
  return ::fstat(fd, &held) == 0 && ::fstatat(directory, name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

Result<Fd> ensure_open(int parent, const std::string& name, unsigned mode) {
  BJ_CHECK(ensure_directory(parent, name, mode));
  BJ_TRY(Fd directory, open_at(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  if (::fchmod(directory.get(), mode) != 0) return fail_errno("fchmod(" + name + ")");
  return directory;
}

Result<StoredEnvironment> read_generation(const Fd& generation) {
  BJ_TRY(const Fd file, open_at(generation.get(), kRecord, O_RDONLY | O_NOFOLLOW));
  BJ_TRY(const std::string text, read_all(file.get(), kLongestRecord, kRecord));
  struct stat info{};
  if (::fstat(file.get(), &info) != 0) return fail_errno("fstat(environment.json)");
  StoredEnvironment found;
  BJ_TRY(found.record, decode(text));
  found.last_used = WallClock::time_point(std::chrono::seconds(info.st_mtim.tv_sec));
  return found;
}

// Takes it out of sight at once, then removes it. False: somebody uses it.
bool remove_generation(const Fd& root, const Fd& key_directory, const std::string& name) {
  const Result<Fd> generation = open_at(key_directory.get(), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!generation) return true;
  if (!try_lock_file(generation->get(), Lock::kAlone, name).value_or(false)) return false;
  if (!same_file(generation->get(), key_directory.get(), name)) return true;  // somebody else just removed it
  const std::string aside = fmt::format("{}{}-{}", kRemovalPrefix, ::getpid(), name);
  if (::renameat(key_directory.get(), name.c_str(), root.get(), aside.c_str()) != 0) return false;
  unlock_file(generation->get());  // whoever waits for it sees that it is gone
  (void)remove_tree(root.get(), aside);
  return true;
}

bool chosen(const PruneRequest& request, const StoredEnvironment& stored, std::chrono::system_clock::time_point now) {
  for (const std::string& key : request.keys) {
    if (key.size() >= kShortestPrefix && stored.record.key.starts_with(key)) return true;
  }
  if (!request.keys.empty()) return false;
  return request.all || (request.unused_for && now - stored.last_used >= *request.unused_for);
}

}  // namespace

Staging::~Staging() { (void)discard(); }

Result<void> Staging::discard() {
  if (!directory_.ok()) return {};
  const Fd lock = std::move(directory_);
  return remove_tree(root_.get(), name_);
}

std::optional<Error> BuildLock::recent_failure() const {
  struct stat info{};
  if (::fstat(file_.get(), &info) != 0 || info.st_size == 0) return {};
  const int64_t age = seconds_of(WallClock::now()) - info.st_mtim.tv_sec;
  if (age < 0 || age > std::chrono::seconds(kFailureStays).count()) return {};
  if (::lseek(file_.get(), 0, SEEK_SET) < 0) return {};
  Result<std::string> text = read_all(file_.get(), kLongestRecord, "failure");
  if (!text || text->empty()) return {};
  return Error{Code::kUnavailable, std::move(*text), 0};
}

void BuildLock::note_failure(const Error& error) const {
  if (::ftruncate(file_.get(), 0) == 0 && ::lseek(file_.get(), 0, SEEK_SET) == 0) {
    (void)write_all(file_.get(), error.what, "failure");
  }
}

void BuildLock::note_success() const { (void)!::ftruncate(file_.get(), 0); }

Result<Fd> EnvironmentStore::open_root() const {
  BJ_CHECK(make_directories(root_, 0700));
  return open_path(root_, O_RDONLY | O_DIRECTORY);
}

void EnvironmentStore::remove_leftovers() const {
  const Result<Fd> root = open_path(root_, O_RDONLY | O_DIRECTORY);
  if (!root || !lock_file(root->get(), Lock::kAlone, root_)) return;
  const auto entries = list_directory(root->get());
  if (!entries) return;
  for (const Entry& entry : *entries) {
    if (!entry.name.starts_with(kStagingPrefix) && !entry.name.starts_with(kRemovalPrefix)) continue;
    const Result<Fd> directory = open_at(root->get(), entry.name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (directory && try_lock_file(directory->get(), Lock::kAlone, entry.name).value_or(false))
      (void)remove_tree(root->get(), entry.name);
  }
}

Result<std::optional<StoredEnvironment>> EnvironmentStore::find(const std::string& key) const {
  const std::string directory = root_ + "/" + key;
  const Result<Fd> key_directory = open_path(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!key_directory) return std::nullopt;
  for (const std::string& name : generations(key_directory->get())) {
    Result<Fd> generation = open_at(key_directory->get(), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    // Exclusive locks are held for a moment only; behind one of them it may be gone.
    if (!generation || !lock_file(generation->get(), Lock::kShared, name)) continue;
    if (!same_file(generation->get(), key_directory->get(), name)) continue;
    Result<StoredEnvironment> found = read_generation(*generation);
    if (!found) continue;
    found->packages = directory + "/" + name + "/packages";
    found->lease = std::make_shared<const Fd>(std::move(*generation));
    return std::move(*found);
  }
  return std::nullopt;
}

Result<std::optional<BuildLock>> EnvironmentStore::try_lock(const std::string& key) const {
  BJ_TRY(const Fd root, open_root());
  BJ_TRY(const Fd locks, ensure_open(root.get(), kLocks, 0700));
  BJ_TRY(Fd file, open_at(locks.get(), key, O_RDWR | O_CREAT | O_NOFOLLOW, 0600));
  BJ_TRY(const bool locked, try_lock_file(file.get(), Lock::kAlone, key));
  return locked ? std::optional(BuildLock(std::move(file))) : std::nullopt;
}

Result<Staging> EnvironmentStore::stage() const {
  Staging staging;
  BJ_TRY(staging.root_, open_root());
  // While the store is locked nobody takes a directory that is not locked yet for a dead one's.
  BJ_TRY(const Fd lock, open_at(staging.root_.get(), ".", O_RDONLY | O_DIRECTORY));
  BJ_CHECK(lock_file(lock.get(), Lock::kAlone, root_));
  std::string path = root_ + "/" + kStagingPrefix + "XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) return fail_errno("mkdtemp(" + path + ")");
  staging.name_ = path.substr(root_.size() + 1);
  BJ_TRY(staging.directory_, open_at(staging.root_.get(), staging.name_, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  BJ_CHECK(lock_file(staging.directory_.get(), Lock::kAlone, path));
  BJ_TRY(staging.packages_, ensure_open(staging.directory_.get(), "packages", 0755));
  return staging;
}

Result<StoredEnvironment> EnvironmentStore::publish(Staging& staging, const EnvironmentRecord& record) const {
  const int directory = staging.directory_.get();
  BJ_TRY(const Fd file, open_at(directory, kRecord, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644));
  BJ_CHECK(write_all(file.get(), encode(record), kRecord));
  if (::fchmod(directory, 0755) != 0) return fail_errno("fchmod(" + staging.name_ + ")");
  if (::syncfs(directory) != 0) return fail_errno("syncfs");  // or a power cut could leave a whole name on half a tree
  BJ_TRY(const Fd key_directory, ensure_open(staging.root_.get(), record.key, 0755));
  const auto now = std::chrono::duration_cast<std::chrono::microseconds>(WallClock::now().time_since_epoch()).count();
  const std::string name = fmt::format("{:017}", now);
  // What can be found is locked shared. The kernel may let go between the two, hence the store's lock.
  BJ_TRY(const Fd lock, open_at(staging.root_.get(), ".", O_RDONLY | O_DIRECTORY));
  BJ_CHECK(lock_file(lock.get(), Lock::kAlone, root_));
  BJ_CHECK(lock_file(directory, Lock::kShared, staging.name_));
  if (::renameat2(staging.root_.get(), staging.name_.c_str(), key_directory.get(), name.c_str(), RENAME_NOREPLACE) !=
      0) {
    return fail_errno("rename(" + record.key + ")");
  }
  StoredEnvironment found{record, root_ + "/" + record.key + "/" + name + "/packages", record.created, true,
                          std::make_shared<const Fd>(std::move(staging.directory_))};
  (void)remove_generations(staging.root_, record.key, name);
  return found;
}

Result<void> EnvironmentStore::touch(const std::string& packages) const {
  const std::string record = packages.substr(0, packages.rfind('/') + 1) + kRecord;
  const timespec times[2] = {{0, UTIME_OMIT}, {0, UTIME_NOW}};
  if (::utimensat(AT_FDCWD, record.c_str(), times, AT_SYMLINK_NOFOLLOW) != 0)
    return fail_errno("utimensat(" + record + ")");
  return {};
}

Result<std::vector<StoredEnvironment>> EnvironmentStore::list() const {
  std::vector<StoredEnvironment> all;
  const Result<Fd> root = open_path(root_, O_RDONLY | O_DIRECTORY);
  if (!root && root.error().code == Code::kNotFound) return all;
  if (!root) return tl::unexpected(root.error());
  BJ_TRY(const auto entries, list_directory(root->get()));
  for (const Entry& entry : entries) {
    if (!is_key(entry.name)) continue;
    const Result<Fd> key_directory = open_at(root->get(), entry.name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (!key_directory) continue;
    const std::vector<std::string> names = generations(key_directory->get());
    if (names.empty()) continue;
    const Result<Fd> generation = open_at(key_directory->get(), names.front(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    Result<StoredEnvironment> found = generation ? read_generation(*generation) : tl::unexpected(generation.error());
    if (!found) continue;
    found->in_use = !try_lock_file(generation->get(), Lock::kAlone, names.front()).value_or(false);
    found->packages = root_ + "/" + entry.name + "/" + names.front() + "/packages";
    all.push_back(std::move(*found));
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.last_used > b.last_used; });
  return all;
}

Result<PruneReport> EnvironmentStore::prune(const PruneRequest& request) const {
  BJ_TRY(const std::vector<StoredEnvironment> all, list());
  for (const std::string& key : request.keys) {
    const bool there =
        std::any_of(all.begin(), all.end(), [&](const auto& stored) { return stored.record.key.starts_with(key); });
    if (key.size() < kShortestPrefix || !there) {
      return fail(Code::kNotFound, "there is no environment \"" + printable(key, 80) +
                                       "\": give at least 6 characters of a key that `belljar env list` shows");
    }
  }
  PruneReport report;
  if (all.empty()) return report;
  BJ_TRY(const Fd root, open_root());
  const auto now = std::chrono::system_clock::now();
  for (const StoredEnvironment& stored : all) {
    if (!chosen(request, stored, now)) continue;
    BJ_TRY(const bool removed, remove_generations(root, stored.record.key, ""));
    (removed ? report.removed : report.in_use).push_back(stored.record.key);
    if (removed) report.freed_bytes += stored.record.size_bytes;
  }
  return report;
}

Result<bool> EnvironmentStore::remove_generations(const Fd& root, const std::string& key,
                                                  const std::string& except) const {
  const Result<Fd> key_directory = open_at(root.get(), key, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!key_directory) return true;
  bool all = true;
  for (const std::string& name : generations(key_directory->get())) {
    if (name != except) all = remove_generation(root, *key_directory, name) && all;
  }
  ::unlinkat(root.get(), key.c_str(), AT_REMOVEDIR);  // if it is empty
  return all;
}

}  // namespace bj
