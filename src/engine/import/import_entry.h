// What an import reads, entry by entry, whatever the source is (a tar, an image's layer, a directory), and how much of
// it is taken. Names come from strangers: split_entry_path() is the one place that judges them, printable() the one
// way to show them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace bj {

struct ImportLimits {
  uint64_t max_total_bytes = 10ull << 30;  // of all files, by apparent size
  uint64_t max_file_bytes = 4ull << 30;
  uint64_t max_entries = 1'000'000;  // files, links and directories, those made on the way included
  uint32_t max_depth = 256;          // directories in each other
  uint32_t max_layers = 128;
  uint64_t max_json_bytes = 4u << 20;  // one manifest, index or config
  uint32_t max_ratio = 250;            // unpacked to packed, judged beyond kRatioGraceBytes
  uint32_t timeout_seconds = 1800;     // wall time, and CPU time
};
inline constexpr uint64_t kRatioGraceBytes = 256ull << 20;

enum class EntryType { kFile, kDirectory, kSymlink, kHardLink, kSpecial };

struct ImportEntry {
  std::string path;  // as the source says it
  EntryType type = EntryType::kFile;
  std::string target;  // of a link
  uint64_t size = 0;   // apparent, of a file
  unsigned mode = 0;
  int64_t uid = 0;
  int64_t gid = 0;
  int64_t modified_seconds = 0;
  size_t attributes = 0;  // extended ones; counted, never kept
};

// A file's contents: calls the sink with ascending offsets; what lies between is a hole.
using DataSink = std::function<Result<void>(uint64_t offset, std::string_view data)>;
using DataSource = std::function<Result<void>(const DataSink& sink)>;

using PathParts = std::vector<std::string>;

// The components of an entry's name; leading "/" and every "." go. ".." and what a filesystem can't hold are refused.
// The message continues a sentence that names the entry: "has .. in its name".
Result<PathParts> split_entry_path(std::string_view path, const ImportLimits& limits);
std::string joined(const PathParts& parts);

// ASCII only; every other byte as \xNN: safe for terminals, logs and JSON. Cut at `limit` bytes.
std::string printable(std::string_view text, size_t limit = 200);

// True if a root filesystem has something of that name at its top.
bool is_root_directory_name(std::string_view name);

}  // namespace bj
