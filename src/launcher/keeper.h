// What outlives a server: descriptors under names, kept by the launcher. The server says which (a sandbox's socket,
// its processes' pipes, the locks that name it); a server that dies without taking its leave finds them here again when
// it is started the next time, and what holds on to them inside has noticed nothing.
//
// Some entries are lives: their first descriptor is a process. While there is no server the keeper kills those whose
// deadline has come; when no life is left there is nothing to wait for. No thread, no allocation of note.
//
// What is kept has numbers above those that the launcher works with: a clone takes the low ones along and nothing else.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/fd.h"

namespace bj {

struct Kept {
  Fd note;  // a memory file that says what this is; none: empty
  std::vector<Fd> descriptors;
  int64_t deadline_us = 0;  // since the epoch; 0: none
  bool is_life = false;     // the first descriptor is a pidfd
};

class Keeper {
 public:
  // A key with a slash is part of the one before it, and is only kept as long as that is.
  void keep(const std::string& key, Kept entry);
  void move_deadline(const std::string& key, int64_t deadline_us);
  // It, and everything whose key begins with it and a slash.
  void forget(const std::string& key);
  const std::map<std::string, Kept>& entries() const { return entries_; }

  // Of the lives that are not over.
  std::vector<int> lives() const;
  std::optional<int64_t> next_deadline() const;
  // Kills whose time has come; each deadline is kept once.
  void kill_due(int64_t now_us);
  // Kills every life and waits until all are over, or the time is.
  void end_all(int patience_ms);

 private:
  std::map<std::string, Kept> entries_;
};

}  // namespace bj
