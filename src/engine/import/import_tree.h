// Writes entries below one directory, and nowhere else. Every path is walked one component at a time, by descriptor,
// and no symlink is ever followed: an entry that lies below one is refused. What a sandbox's root must not contain is
// left out and counted: devices, FIFOs and sockets, set-user-id and set-group-id bits, extended attributes, owners
// outside 0..65535. Files keep their modification time (compiled Python depends on it), directories don't.
//
// Layers of an image go on top of each other; a whiteout deletes what earlier layers brought, never what its own did.
// A failure leaves a half-written tree that the caller throws away. Used by one thread.
#pragma once

#include <unordered_set>

#include "base/error.h"
#include "base/fd.h"
#include "engine/import/import_entry.h"

namespace bj {

struct TreeCounts {
  uint64_t entries = 0;
  uint64_t bytes = 0;
  uint64_t special_files = 0;  // devices, FIFOs and sockets, left out
  uint64_t set_id_bits = 0;    // removed
  uint64_t attributes = 0;     // extended ones, left out
  uint64_t owners = 0;         // that could not be kept
};

enum class Owners { kKept, kCallers };  // kCallers: not root, everything belongs to who imports
enum class Whiteouts { kApplied, kPlainFiles };

class TreeWriter {
 public:
  TreeWriter(Fd root, const ImportLimits& limits, Owners owners)
      : root_(std::move(root)), limits_(limits), owners_(owners) {}

  void begin_layer(Whiteouts whiteouts);
  // `data` is called for files only. Messages continue a sentence that names the entry.
  Result<void> add(const ImportEntry& entry, const DataSource& data);
  const TreeCounts& counts() const { return counts_; }

 private:
  enum class Missing { kMade, kLeft };

  Result<void> count_entry();
  Result<void> charge(uint64_t size);
  Result<Fd> step(const Fd& at, const PathParts& parts, size_t index, Missing missing);
  // The directory that holds the last component; empty if it is missing and left so.
  Result<Fd> open_parent(const PathParts& parts, Missing missing);
  Result<void> add_directory(const Fd& parent, const std::string& name, const ImportEntry& entry);
  Result<void> add_file(const Fd& parent, const std::string& name, const ImportEntry& entry, const DataSource& data);
  Result<void> add_symlink(const Fd& parent, const std::string& name, const ImportEntry& entry);
  Result<void> add_hard_link(const Fd& parent, const PathParts& parts, const ImportEntry& entry);
  Result<void> set_owner(int fd, const std::string& name, const ImportEntry& entry);
  unsigned kept_mode(const ImportEntry& entry, unsigned mask);

  Result<void> apply_whiteout(const PathParts& parts);
  Result<void> remove_earlier_layers(const Fd& dir);
  uint64_t key(const Fd& dir, const std::string& name) const;
  void mark(const Fd& dir, const std::string& name);

  Fd root_;
  ImportLimits limits_;
  Owners owners_;
  TreeCounts counts_;
  Whiteouts whiteouts_ = Whiteouts::kPlainFiles;
  unsigned layer_ = 0;
  std::unordered_set<uint64_t> of_this_layer_;  // key() of each name that the layer brought or went through
  std::unordered_set<uint64_t> opaque_;         // inodes of directories already made opaque in this layer
};

}  // namespace bj
