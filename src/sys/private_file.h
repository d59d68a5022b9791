// Files that hold secrets: read only if nobody but their owner may.
#pragma once

#include <string>

#include "base/error.h"
#include "base/secret.h"

namespace bj {

// Refuses (kDenied) a file that others may read, a symbolic link, and anything that is not a regular file.
Result<Secret> read_private_file(const std::string& path, size_t limit);

}  // namespace bj
