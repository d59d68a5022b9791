#include "sys/newest_files.h"

#include <fcntl.h>

#include <algorithm>

#include "sys/files.h"
#include "sys/names.h"

namespace bj {

void keep_newest_files(const std::string& directory, uint64_t most_bytes) {
  const Result<Fd> store = open_path(directory, O_RDONLY | O_DIRECTORY);
  if (!store) return;
  const auto entries = list_directory(store->get());
  if (!entries) return;
  struct Kept {
    std::string name;
    int64_t time = 0;
    uint64_t size = 0;
  };
  std::vector<Kept> all;
  for (const Entry& entry : *entries) {
    if (const Result<struct stat> info = status_at(store->get(), entry.name))
      all.push_back({entry.name, info->st_mtim.tv_sec * 1'000'000'000 + info->st_mtim.tv_nsec,
                     static_cast<uint64_t>(info->st_size)});
  }
  std::sort(all.begin(), all.end(), [](const Kept& a, const Kept& b) { return a.time > b.time; });
  uint64_t sum = 0;
  for (const Kept& one : all) {
    sum += one.size;
    if (sum > most_bytes) (void)remove_file(store->get(), one.name);
  }
}

}  // namespace bj
