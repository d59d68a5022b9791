#include "engine/import/import_scratch.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sys/files.h"

namespace bj {
namespace {

constexpr uint64_t kMostFiles = 2048;
constexpr unsigned kMostLinks = 8;

bool is_of_root_filesystem(const PathParts& parts, EntryType type) {
  if (parts.size() > 2 && parts.front() != "blobs") return true;  // an image's files are a/b or blobs/sha256/...
  const bool below = parts.size() > 1 || type == EntryType::kDirectory || type == EntryType::kSymlink;
  return !parts.empty() && below && is_root_directory_name(parts.front());
}

// "../b/layer.tar" in directory "a" is "b/layer.tar"; nothing if it climbs out of the archive.
std::optional<std::string> resolve_name(const PathParts& link, const std::string& target) {
  if (target.empty() || target.front() == '/') return std::nullopt;
  PathParts at(link.begin(), link.end() - 1);
  for (size_t from = 0; from <= target.size();) {
    const size_t slash = std::min(target.find('/', from), target.size());
    const std::string part = target.substr(from, slash - from);
    from = slash + 1;
    if (part == ".." && at.empty()) return std::nullopt;
    if (part == "..") {
      at.pop_back();
    } else if (!part.empty() && part != ".") {
      at.push_back(part);
    }
  }
  return joined(at);
}

}  // namespace

Result<std::optional<ScratchBlobs>> ScratchBlobs::collect(TarReader& reader, int scratch, const ImportLimits& limits,
                                                          const std::function<void(uint64_t bytes)>& progress) {
  ScratchBlobs blobs(scratch);
  bool too_many = false;  // no image: from there on only names are looked at
  for (;;) {
    BJ_TRY(const std::optional<ImportEntry> entry, reader.next());
    if (!entry) break;
    const std::string where = fmt::format("entry {} ({}) of the archive ", reader.count(), printable(entry->path));
    const Result<PathParts> parts = split_entry_path(entry->path, limits);
    if (!parts)
      return fail(Code::kInvalid, where + parts.error().what + ": it is not imported; export the image again");
    if (is_of_root_filesystem(*parts, entry->type)) return std::nullopt;
    if (parts->empty() || entry->type == EntryType::kDirectory || too_many) continue;
    const std::string name = joined(*parts);
    blobs.links_.erase(name);
    blobs.files_.erase(name);
    if (entry->type == EntryType::kFile) BJ_CHECK(blobs.add(reader, *entry, name, limits));
    if (entry->type == EntryType::kSymlink) {
      if (const auto target = resolve_name(*parts, entry->target)) blobs.links_[name] = *target;
    }
    too_many = blobs.files_.size() + blobs.links_.size() > kMostFiles;
    if (too_many) blobs = ScratchBlobs(scratch);
    progress(blobs.bytes_);
  }
  return blobs;
}

Result<void> ScratchBlobs::add(TarReader& reader, const ImportEntry& entry, const std::string& name,
                               const ImportLimits& limits) {
  if (entry.size > limits.max_total_bytes - bytes_) {
    return fail(
        Code::kExhausted,
        fmt::format("{} would bring the import over its {} bytes in all: use a smaller image, or raise the limit",
                    printable(name), limits.max_total_bytes));
  }
  bytes_ += entry.size;
  const uint64_t number = reader.count();  // unique: one an entry
  BJ_TRY(const Fd file, open_at(scratch_, std::to_string(number), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
  BJ_CHECK(reader.read_data([&](uint64_t offset, std::string_view data) -> Result<void> {
    if (::lseek(file.get(), static_cast<off_t>(offset), SEEK_SET) < 0) return fail_errno("lseek");
    return write_all(file.get(), data, printable(name));
  }));
  files_[name] = number;
  return {};
}

Result<Fd> ScratchBlobs::open(const std::string& name) const {
  std::string at = joined(split_entry_path(name, {}).value_or(PathParts{}));
  for (unsigned hops = 0; hops < kMostLinks; ++hops) {
    if (const auto file = files_.find(at); file != files_.end())
      return open_at(scratch_, std::to_string(file->second), O_RDONLY | O_NOFOLLOW);
    const auto link = links_.find(at);
    if (link == links_.end()) break;
    at = link->second;
  }
  return fail(Code::kInvalid,
              "the image is malformed: " + printable(name) + " is not a file of the archive; export it again");
}

}  // namespace bj
