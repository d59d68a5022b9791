#include "store/key_file.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/id.h"
#include "store/crypto.h"
#include "sys/file_lock.h"
#include "sys/files.h"
#include "sys/private_file.h"

namespace bj {
namespace {

constexpr char kHeader[] = "# Belljar's master keys, newest last. Without them the secrets in the database are lost.\n";
constexpr size_t kMasterBytes = 32;
constexpr size_t kMostBytes = 64 * 1024;

std::string directory_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

Result<void> sync_directory(const std::string& path) {
  BJ_TRY(const Fd directory, open_path(directory_of(path), O_RDONLY | O_DIRECTORY));
  if (::fsync(directory.get()) != 0) return fail_errno("fsync(" + directory_of(path) + ")");
  return {};
}

// Written aside, on the disk when this returns; yields its name.
Result<std::string> write_aside(const std::string& path, const std::vector<Secret>& keys) {
  std::string text;
  text.reserve(sizeof kHeader + keys.size() * 64);  // at once: growing would leave copies behind
  text = kHeader;
  for (const Secret& key : keys) {
    const Secret line = Secret::take(base64(key.reveal()) + "\n");
    text += line.reveal();
  }
  const Secret contents = Secret::take(std::move(text));
  std::string aside = path + "." + new_uuid4() + ".tmp";
  BJ_CHECK(write_private_file(aside, contents.reveal()));
  return aside;
}

Result<std::vector<Secret>> parse(const std::string& path, std::string_view text) {
  std::vector<Secret> keys;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.empty() || line[0] == '#') continue;
    auto bytes = lenient_base64(line);
    if (!bytes || bytes->size() != kMasterBytes)
      return fail(Code::kInvalid, path + " has a line that is no key: restore the file from a backup");
    keys.push_back(Secret::take(std::move(*bytes)));
  }
  return keys;
}

}  // namespace

Result<std::vector<Secret>> read_key_file(const std::string& path) {
  const Result<Secret> contents = read_private_file(path, kMostBytes);
  if (!contents && contents.error().code == Code::kNotFound) return std::vector<Secret>();
  if (!contents) return tl::unexpected(contents.error());
  return parse(path, contents->reveal());
}

Result<Secret> new_master_key() {
  BJ_TRY(std::string bytes, random_bytes(kMasterBytes));
  return Secret::take(std::move(bytes));
}

Result<void> ensure_key_file(const std::string& path) {
  std::vector<Secret> keys;
  BJ_TRY(Secret key, new_master_key());
  keys.push_back(std::move(key));
  BJ_TRY(const std::string aside, write_aside(path, keys));
  BJ_CHECK(name_once(aside, path));
  return sync_directory(path);
}

Result<void> replace_key_file(const std::string& path, const std::vector<Secret>& keys) {
  BJ_TRY(const std::string aside, write_aside(path, keys));
  if (::rename(aside.c_str(), path.c_str()) != 0) return fail_errno("rename(" + path + ")");
  return sync_directory(path);
}

Result<Fd> lock_key_file(const std::string& path) {
  BJ_TRY(Fd file, open_path(path + ".lock", O_RDWR | O_CREAT | O_NOFOLLOW, 0600));
  if (!try_lock_file(file.get(), Lock::kAlone, path + ".lock").value_or(false))
    return fail(Code::kBusy, "another process is rotating the secrets right now");
  return file;
}

}  // namespace bj
