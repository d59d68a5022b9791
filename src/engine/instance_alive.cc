#include "engine/instance_alive.h"

#include <fcntl.h>

#include "sys/file_lock.h"
#include "sys/files.h"

namespace bj {

std::string instances_directory(bool root, const std::string& data_directory) {
  return (root ? std::string("/run/belljar") : data_directory) + "/instances";
}

bool instance_alive(const std::string& directory, const std::string& name) {
  if (name.empty() || name.find('/') != std::string::npos) return false;
  const Result<Fd> file = open_path(directory + "/" + name, O_RDONLY | O_NOFOLLOW);
  if (!file) return file.error().code != Code::kNotFound;
  return !try_lock_file(file->get(), Lock::kShared, name).value_or(false);
}

}  // namespace bj
