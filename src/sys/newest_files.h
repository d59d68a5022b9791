// A directory of files that can be had again, bounded in size.
#pragma once

#include <cstdint>
#include <string>

namespace bj {

// Removes the files that were changed longest ago until the rest has at most so many bytes. Blocks. What can't be
// looked at, or removed, stays.
void keep_newest_files(const std::string& directory, uint64_t most_bytes);

}  // namespace bj
