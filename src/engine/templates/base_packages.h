// What apt and dpkg want to know inside `base`, so that a build can add the distribution's packages: which are there
// (their files lie in the host's /usr), and where others come from. The rest of dpkg's database, thousands of files,
// stays with the host: to dpkg inside, the host's packages have no files.
#pragma once

#include <string>

#include "base/error.h"

namespace bj {

// Below `root`, from the system whose root is `host` ("" for this one). Without dpkg there, nothing is written. Sources
// that others can't read, or that hold a password, are left out.
Result<void> add_package_database(const std::string& root, const std::string& host = "");

}  // namespace bj
