#include "sys/inotify.h"

#include <sys/inotify.h>

#include <cstring>

namespace bj {

Result<int> add_watch(int inotify, int directory, uint32_t mask) {
  const std::string path = "/proc/self/fd/" + std::to_string(directory);
  const int watch = ::inotify_add_watch(inotify, path.c_str(), mask);
  if (watch < 0) return fail_errno("inotify_add_watch");
  return watch;
}

void remove_watch(int inotify, int watch) { ::inotify_rm_watch(inotify, watch); }

std::vector<InotifyEvent> inotify_events(std::string_view bytes) {
  std::vector<InotifyEvent> events;
  while (bytes.size() >= sizeof(inotify_event)) {
    inotify_event event{};
    std::memcpy(&event, bytes.data(), sizeof event);
    bytes.remove_prefix(sizeof event);
    const std::string_view padded = bytes.substr(0, event.len);
    bytes.remove_prefix(padded.size());
    events.push_back({event.wd, event.mask, std::string(padded.substr(0, padded.find('\0')))});
  }
  return events;
}

}  // namespace bj
