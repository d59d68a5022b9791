// The kernel's notes about changed directories: what one is added with, and the events as they were read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace bj {

struct InotifyEvent {
  int watch = -1;  // as add_watch() gave it; -1: the queue was full, events were lost
  uint32_t mask = 0;
  std::string name;  // in the watched directory; empty: the directory itself
};

// Of the object that `directory` is open on, not of a path. The same object gives the same number again.
Result<int> add_watch(int inotify, int directory, uint32_t mask);
// Events that are already in the queue still come.
void remove_watch(int inotify, int watch);
// What one read() gave. Every length is checked: the descriptor may come from elsewhere.
std::vector<InotifyEvent> inotify_events(std::string_view bytes);

}  // namespace bj
