// Files that hold secrets: made for their owner alone, and read only if nobody else may.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/secret.h"

namespace bj {

// Refuses (kDenied) a file that others may read, a symbolic link, and anything that is not a regular file.
Result<Secret> read_private_file(const std::string& path, size_t limit);

// A new file, whole and on the disk when this returns. Fails if the name is taken; after another failure what was
// written stays.
Result<void> write_private_file(const std::string& path, std::string_view text);
// Gives a file that was written aside its name, unless that is taken: then what has it stays. `aside` goes either way.
Result<void> name_once(const std::string& aside, const std::string& path);

}  // namespace bj
