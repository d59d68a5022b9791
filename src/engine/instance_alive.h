// Whether an instance of Belljar, known by its name, still runs on this machine; see instance_lock.h.
#pragma once

#include <string>

#include "base/error.h"

namespace bj {

// Where the instances of this machine have their files: as root one place for all, else below the data directory.
std::string instances_directory(bool root, const std::string& data_directory);

// False: its file is gone or nobody holds its lock. Who can't look (no permission) takes it for alive.
bool instance_alive(const std::string& directory, const std::string& name);

}  // namespace bj
