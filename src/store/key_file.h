// The file with the master keys: 0600, one key of 32 bytes a line in base64, newest last. It is replaced as a whole, so
// that a crash leaves the old one or the new one.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "base/secret.h"

namespace bj {

// No file: no keys. Refuses (kDenied) a file that others may read, and anything that is not a regular file.
Result<std::vector<Secret>> read_key_file(const std::string& path);
// A file with one new key. If somebody else made one meanwhile, theirs stays.
Result<void> ensure_key_file(const std::string& path);
Result<void> replace_key_file(const std::string& path, const std::vector<Secret>& keys);
Result<Secret> new_master_key();

// Held while the file is being changed, by one process at a time: kBusy otherwise.
Result<Fd> lock_key_file(const std::string& path);

}  // namespace bj
