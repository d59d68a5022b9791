// For the import's tests: archives made with libarchive, entry by entry.
#pragma once

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <string>
#include <vector>

#include "sys/files.h"
#include "sys/scratch_directory_for_test.h"

namespace bj::test {

struct Item {
  std::string path;
  mode_t type = S_IFREG;
  std::string data;  // or the target of a symlink
  std::string link;  // target of a hard link
  unsigned mode = 0755;
  int64_t uid = 0, gid = 0;
  std::string attribute;  // name of an extended one
};

inline Item file(std::string path, std::string data = "data\n", unsigned mode = 0644) {
  return {std::move(path), S_IFREG, std::move(data), "", mode, 0, 0, ""};
}
inline Item folder(std::string path, unsigned mode = 0755) {
  return {std::move(path), S_IFDIR, "", "", mode, 0, 0, ""};
}
inline Item symlink_to(std::string path, std::string target) {
  return {std::move(path), S_IFLNK, std::move(target), "", 0777, 0, 0, ""};
}
inline Item hard_link(std::string path, std::string target) {
  return {std::move(path), S_IFREG, "", std::move(target), 0644, 0, 0, ""};
}

inline ssize_t append_bytes(archive*, void* out, const void* data, size_t size) {
  static_cast<std::string*>(out)->append(static_cast<const char*>(data), size);
  return static_cast<ssize_t>(size);
}

inline void write_item(archive* out, const Item& item) {
  archive_entry* entry = archive_entry_new();
  archive_entry_set_pathname(entry, item.path.c_str());
  archive_entry_set_filetype(entry, item.type);
  archive_entry_set_perm(entry, item.mode);
  archive_entry_set_uid(entry, item.uid);
  archive_entry_set_gid(entry, item.gid);
  archive_entry_set_mtime(entry, 1'600'000'000, 0);
  if (item.type == S_IFLNK) archive_entry_set_symlink(entry, item.data.c_str());
  if (!item.link.empty()) archive_entry_set_hardlink(entry, item.link.c_str());
  if (!item.attribute.empty()) archive_entry_xattr_add_entry(entry, item.attribute.c_str(), "value", 5);
  const bool has_data = item.type == S_IFREG && item.link.empty();
  archive_entry_set_size(entry, has_data ? static_cast<int64_t>(item.data.size()) : 0);
  archive_write_header(out, entry);
  if (has_data) archive_write_data(out, item.data.data(), item.data.size());
  archive_entry_free(entry);
}

// `filter` is one of libarchive's: "none", "gzip", "xz", "bzip2", "zstd".
inline std::string make_tar(const std::vector<Item>& items, const std::string& filter = "none") {
  std::string bytes;
  archive* out = archive_write_new();
  archive_write_set_format_pax(out);
  if (filter != "none") archive_write_add_filter_by_name(out, filter.c_str());
  archive_write_set_bytes_in_last_block(out, 1);  // no padding behind
  archive_write_open(out, &bytes, nullptr, append_bytes, nullptr);
  for (const Item& item : items) write_item(out, item);
  archive_write_close(out);
  archive_write_free(out);
  return bytes;
}

}  // namespace bj::test
